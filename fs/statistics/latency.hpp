#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace tensorfs {

/// How long requests took, as a histogram whose buckets are at most an eighth of their value wide. Any
/// thread may count and ask.
class Latency {
public:
    void count(std::chrono::nanoseconds time) noexcept;

    /// How many were counted.
    [[nodiscard]] std::uint64_t total() const noexcept;
    /// The time within which a share of them was done, of 0 to 1: not less than it was, and at most an
    /// eighth more. 0 where nothing was counted.
    [[nodiscard]] std::chrono::nanoseconds percentile(double share) const noexcept;
    [[nodiscard]] std::chrono::nanoseconds longest() const noexcept;

private:
    // Below 8 ns a bucket a nanosecond, then eight for each power of two up to 2^63.
    static constexpr unsigned sub_bits = 3;
    static constexpr std::size_t buckets = (64 - sub_bits) << sub_bits;

    static std::size_t bucket_of(std::uint64_t nanoseconds) noexcept;
    static std::uint64_t end_of(std::size_t bucket) noexcept;

    std::array<std::atomic<std::uint64_t>, buckets> counts_{};
    std::atomic<std::uint64_t> longest_{0};
};

}  // namespace tensorfs
