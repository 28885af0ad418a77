#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace tensorfs {

/// What the kernel asks for, as counted in the statistics.
enum class Request : std::uint8_t { lookup, getattr, readdir, read, getxattr, listxattr, statfs };
inline constexpr std::size_t request_kinds = 7;

/// Counters of a mount, since it was mounted. Any thread may count and read.
class Stats {
public:
    void count(Request request) noexcept {
        requests_[static_cast<std::size_t>(request)].fetch_add(1, std::memory_order_relaxed);
    }
    /// A READ was answered with so many bytes.
    void count_bytes(std::uint64_t bytes) noexcept { bytes_read_.fetch_add(bytes, std::memory_order_relaxed); }
    /// A request was answered with EIO, ENOMEM or the like: not with what merely is not there.
    void count_error() noexcept { errors_.fetch_add(1, std::memory_order_relaxed); }

    /// The counters as one line of JSON: `uptime_seconds`, `requests` by kind, `bytes_read` and
    /// `errors`.
    [[nodiscard]] std::string json() const;

    /// The same for getxattr's two calls: the first asks for the size with `size` 0, the second
    /// must fit it, though the counters have moved on. If the text has outgrown `size`, this is the
    /// one that was last measured.
    [[nodiscard]] std::string json_to_fit(std::size_t size) const;

private:
    std::array<std::atomic<std::uint64_t>, request_kinds> requests_{};
    std::atomic<std::uint64_t> bytes_read_{0};
    std::atomic<std::uint64_t> errors_{0};
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    mutable std::mutex mutex_;
    mutable std::string measured_;
};

}  // namespace tensorfs
