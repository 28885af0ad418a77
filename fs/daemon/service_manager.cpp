#include "fs/daemon/service_manager.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "fs/terminal/log.hpp"

namespace tensorfs {
namespace {

/// Send timeout. Signals wait meanwhile.
constexpr timeval patience{1, 0};

/// Sends a datagram as sd_notify(3) does. libsystemd's own function has no timeout, and takes 3 MB of memory with all
/// that it is linked with. 0, or an errno value.
int send(const char* path, const std::string& state) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::strlen(path);
    if (length < 2 || length > sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) return EINVAL;
    std::memcpy(address.sun_path, path, length);
    if (path[0] == '@') address.sun_path[0] = '\0';  // a socket without a file
    const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0) return errno;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
    const ssize_t sent = ::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
                                  reinterpret_cast<const sockaddr*>(&address), size);
    return sent < 0 ? errno : 0;
}

void notify(const std::string& state) {
    const char* const path = std::getenv("NOTIFY_SOCKET");
    if (path == nullptr) return;
    if (const int error = send(path, state); error != 0) {
        spdlog::debug("cannot notify the service manager: {}", system_message(error));
    }
}

/// A number in the environment; 0 if it is not one.
std::optional<std::uint64_t> number_in(const char* variable) {
    const char* const text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    std::uint64_t number = 0;
    const std::string_view digits = text;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc{} && end == digits.data() + digits.size() ? number : 0;
}

/// The clock by which Type=notify-reload wants to know when RELOADING=1 was sent.
std::uint64_t monotonic_microseconds() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

}  // namespace

void ServiceManager::ready(const std::string& status) const {
    // The daemon is not the process that the service manager started.
    notify(fmt::format("READY=1\nMAINPID={}\nSTATUS={}", ::getpid(), printable(status)));
}

void ServiceManager::reloading() const {
    notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}\nSTATUS=reloading the source", monotonic_microseconds()));
}

void ServiceManager::stopping() const { notify("STOPPING=1\nSTATUS=unmounting"); }

void ServiceManager::alive() const { notify("WATCHDOG=1"); }

std::chrono::microseconds ServiceManager::wanted_watchdog() {
    const std::optional<std::uint64_t> process = number_in("WATCHDOG_PID");  // whom it is meant for, if it is set
    const std::uint64_t microseconds = number_in("WATCHDOG_USEC").value_or(0);
    if (microseconds == 0 ||
        process.value_or(static_cast<std::uint64_t>(::getpid())) != static_cast<std::uint64_t>(::getpid()))
        return {};
    // Half of it, as sd_watchdog_enabled(3) recommends, but never so much that adding it to a time overflows.
    constexpr std::uint64_t hour = 3'600'000'000;
    return std::chrono::microseconds(std::clamp<std::uint64_t>(microseconds / 2, 1000, hour));
}

}  // namespace tensorfs
