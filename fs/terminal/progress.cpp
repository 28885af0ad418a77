#include "fs/terminal/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "fs/terminal/quantity_text.hpp"

namespace tensorfs {
namespace {

using namespace std::chrono_literals;

// A bar that moves must not flicker; a log must not fill.
constexpr auto terminal_pause = 100ms;
constexpr auto log_pause = 5s;

constexpr unsigned bar_width = 24;

unsigned percent(std::uint64_t done, std::uint64_t total) {
    return total == 0 ? 100 : static_cast<unsigned>(static_cast<double>(done) / static_cast<double>(total) * 100);
}

}  // namespace

std::string clock_time(std::chrono::duration<double> time) {
    const auto seconds = static_cast<std::uint64_t>(std::llround(std::max(0.0, time.count())));
    const std::uint64_t hours = seconds / 3600;
    if (hours != 0) return fmt::format("{}:{:02}:{:02}", hours, seconds / 60 % 60, seconds % 60);
    return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

std::string progress_line(std::uint64_t done, std::uint64_t total, std::chrono::duration<double> elapsed) {
    std::string line =
        fmt::format("{} %, {} of {}", percent(done, total), human_bytes(done), human_bytes(std::max(done, total)));
    if (done == 0 || elapsed.count() <= 0) return line;
    const double rate = static_cast<double>(done) / elapsed.count();
    line += fmt::format(", {}/s", human_bytes(static_cast<std::uint64_t>(rate)));
    if (done < total) {
        line += fmt::format(", {} left",
                            clock_time(std::chrono::duration<double>(static_cast<double>(total - done) / rate)));
    }
    return line;
}

Progress::Progress(std::string what, std::uint64_t total)
    : what_(std::move(what)),
      total_(total),
      is_terminal_(::isatty(STDERR_FILENO) == 1),
      next_(
          (start_ + (is_terminal_ ? Clock::duration(300ms) : Clock::duration(log_pause))).time_since_epoch().count()) {}

void Progress::finish() noexcept {
    if (is_terminal_ && is_shown_) std::fputs("\r\x1b[K", stderr);
    is_shown_ = false;
}

std::chrono::duration<double> Progress::elapsed() const { return Clock::now() - start_; }

void Progress::add(std::uint64_t nbytes) noexcept {
    done_.fetch_add(nbytes, std::memory_order_relaxed);
    const Clock::time_point now = Clock::now();
    Clock::rep due = next_.load(std::memory_order_relaxed);
    if (now.time_since_epoch().count() < due) return;
    const auto next = now + (is_terminal_ ? Clock::duration(terminal_pause) : Clock::duration(log_pause));
    if (!next_.compare_exchange_strong(due, next.time_since_epoch().count())) return;  // another thread shows it
    try {
        show(now);
    } catch (...) {  // no memory for a line: the work goes on
    }
}

void Progress::show(Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    const std::string line = progress_line(done(), total_, now - start_);
    if (is_terminal_) {
        const unsigned filled = percent(done(), total_) * bar_width / 100;
        fmt::print(stderr, "\r{} [{:<{}}] {}\x1b[K", what_, std::string(std::min(filled, bar_width), '#'), bar_width,
                   line);
        is_shown_ = true;
    } else {
        fmt::print(stderr, "tensorfs: {}: {}\n", what_, line);
    }
}

}  // namespace tensorfs
