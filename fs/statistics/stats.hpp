#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "core/views/view_table.hpp"
#include "fs/statistics/latency.hpp"
#include "fs/volume/node.hpp"

namespace tensorfs {

/// The kinds of requests that the statistics count.
enum class Request : std::uint8_t { lookup, getattr, open, opendir, readdir, read, getxattr, listxattr, statfs };
inline constexpr std::size_t request_kinds = 9;

/// Counters of a mount since it was mounted, through all reloads. Thread-safe.
class Stats {
public:
    void count(Request request) noexcept {
        requests_[static_cast<std::size_t>(request)].fetch_add(1, std::memory_order_relaxed);
    }
    /// A reply to a request had so many bytes.
    void count_bytes(Request request, std::uint64_t bytes) noexcept {
        bytes_[static_cast<std::size_t>(request)].fetch_add(bytes, std::memory_order_relaxed);
    }
    /// A reply to a READ of a file in that view had.
    void count_bytes(View view, std::uint64_t bytes) noexcept {
        count_bytes(Request::read, bytes);
        bytes_in_[static_cast<std::size_t>(view)].fetch_add(bytes, std::memory_order_relaxed);
    }
    /// A request failed, with EIO, ENOMEM or the like. That something does not exist is no failure.
    void count_error() noexcept { errors_.fetch_add(1, std::memory_order_relaxed); }
    /// An attribute of the root was asked for, as by somebody who only watches these counters.
    void count_look() noexcept { looks_.fetch_add(1, std::memory_order_relaxed); }

    /// How long READs take that are answered, from arrival to reply.
    [[nodiscard]] Latency& read_latency() noexcept { return read_latency_; }
    /// Requests that count as use of the mount: all but those of df and `tensorfs info`, which only watch it.
    [[nodiscard]] std::uint64_t uses() const noexcept;

    /// `uptime_seconds`, `requests` and `bytes` by kind, `bytes_read` by view, `errors` and
    /// `read_latency_us`. Throws std::bad_alloc.
    [[nodiscard]] nlohmann::ordered_json json() const;

private:
    std::array<std::atomic<std::uint64_t>, request_kinds> requests_{};
    std::array<std::atomic<std::uint64_t>, request_kinds> bytes_{};
    std::array<std::atomic<std::uint64_t>, tensor_view_ids> bytes_in_{};  // by view
    std::atomic<std::uint64_t> errors_{0};
    std::atomic<std::uint64_t> looks_{0};
    Latency read_latency_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tensorfs
