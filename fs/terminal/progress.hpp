#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace tensorfs {

/// Shows on standard error how far a long piece of work is: bytes done, rate and time left. On a terminal it is a bar
/// that moves, elsewhere a line every few seconds; work that is done in a moment shows nothing. Any thread may add.
/// (Debian has no library for it.)
class Progress {
public:
    /// `what` names the work, such as "warm"; `total` is in bytes.
    Progress(std::string what, std::uint64_t total);
    ~Progress() { finish(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// So many more bytes are done.
    void add(std::uint64_t nbytes) noexcept;
    /// Removes the bar, so that something else can be printed. REQUIRES: no thread adds any more.
    void finish() noexcept;
    [[nodiscard]] std::uint64_t done() const noexcept { return done_.load(std::memory_order_relaxed); }
    /// Since it began.
    [[nodiscard]] std::chrono::duration<double> elapsed() const;

private:
    using Clock = std::chrono::steady_clock;

    void show(Clock::time_point now);

    std::string what_;
    std::uint64_t total_;
    bool is_terminal_;
    Clock::time_point start_ = Clock::now();
    std::atomic<std::uint64_t> done_{0};
    std::atomic<Clock::rep> next_;  // when to show it again
    std::mutex mutex_;              // for what follows, and to print one line at a time
    bool is_shown_ = false;
};

/// Progress as a line: "45 %, 1.2 GB of 2.7 GB, 600.0 MB/s, 0:02 left". If no time has passed, without the last two.
std::string progress_line(std::uint64_t done, std::uint64_t total, std::chrono::duration<double> elapsed);

/// "1:02:03" or "0:07".
std::string clock_time(std::chrono::duration<double> time);

}  // namespace tensorfs
