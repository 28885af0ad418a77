#pragma once

#include <chrono>

namespace tensorfs {

/// Tells whether this thread has blocked on a disk since the stopwatch was made: it slept, and more than 700 us have
/// passed. Neither alone would do: a thread that others kept from its processor did not sleep, and one that slept for
/// less is served well by the kernel's own read-ahead.
class DiskStopwatch {
public:
    DiskStopwatch() noexcept;
    [[nodiscard]] bool has_blocked() const noexcept;

private:
    long sleeps_;
    std::chrono::steady_clock::time_point start_;
};

/// Learns from READs of one stream whether its disk is slow: it is once blocking READs outnumber the others by three,
/// and stays so. Not thread-safe.
class SlowDisk {
public:
    void count(bool has_blocked) noexcept {
        if (!has_blocked) {
            balance_ -= balance_ != 0 ? 1U : 0U;
        } else if (++balance_ == most) {
            is_slow_ = true;
        }
    }
    [[nodiscard]] bool is_slow() const noexcept { return is_slow_; }

private:
    static constexpr unsigned most = 3;

    unsigned balance_ = 0;  // blocking READs less others, never below 0
    bool is_slow_ = false;
};

}  // namespace tensorfs
