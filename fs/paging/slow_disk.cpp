#include "fs/paging/slow_disk.hpp"

#include <sys/resource.h>

namespace tensorfs {
namespace {

constexpr std::chrono::microseconds patience{700};

/// How often this thread has given up its processor of its own accord, as it does to wait for a disk.
long times_asleep() noexcept {
    rusage usage{};
    return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

}  // namespace

DiskStopwatch::DiskStopwatch() noexcept : sleeps_(times_asleep()), start_(std::chrono::steady_clock::now()) {}

bool DiskStopwatch::has_blocked() const noexcept {
    return std::chrono::steady_clock::now() - start_ > patience && times_asleep() != sleeps_;
}

}  // namespace tensorfs
