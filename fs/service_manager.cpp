#include "fs/service_manager.hpp"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

#include "core/error.hpp"
#include "core/escape.hpp"
#include "fs/log.hpp"

namespace tensorfs {
namespace {

void notify(const std::string& state) {
    if (const int result = ::sd_notify(0, state.c_str()); result < 0) {
        spdlog::debug("the service manager cannot be told: {}", system_message(-result));
    }
}

/// As notify-reload asks of RELOADING=1: when that was, on the clock that does not jump.
std::uint64_t monotonic_microseconds() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

}  // namespace

void ServiceManager::ready(const std::string& status) const {
    // A daemon is not the process that was started.
    notify(fmt::format("READY=1\nMAINPID={}\nSTATUS={}", ::getpid(), printable(status)));
}

void ServiceManager::reloading() const {
    notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}\nSTATUS=looking at the source again", monotonic_microseconds()));
}

void ServiceManager::stopping() const { notify("STOPPING=1\nSTATUS=unmounting"); }

void ServiceManager::alive() const { notify("WATCHDOG=1"); }

std::chrono::microseconds ServiceManager::wanted_watchdog() {
    std::uint64_t microseconds = 0;
    if (::sd_watchdog_enabled(0, &microseconds) <= 0) return {};
    return std::chrono::microseconds(microseconds / 2);  // as sd_watchdog_enabled(3) recommends
}

}  // namespace tensorfs
