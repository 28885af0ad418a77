#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace tensorfs {

/// A histogram of how long requests took, whose buckets are at most an eighth of their value wide. Thread-safe.
class Latency {
public:
    void count(std::chrono::nanoseconds time) noexcept;

    /// How many were counted.
    [[nodiscard]] std::uint64_t total() const noexcept;
    /// The time within which a share of them, 0 to 1, was done: exact, or up to an eighth too long. 0 if nothing was
    /// counted.
    [[nodiscard]] std::chrono::nanoseconds percentile(double share) const noexcept;
    [[nodiscard]] std::chrono::nanoseconds longest() const noexcept;

private:
    // One bucket a nanosecond up to 8 ns, then eight for each power of two up to 2^63.
    static constexpr unsigned sub_bits = 3;
    static constexpr std::size_t buckets = (64 - sub_bits) << sub_bits;

    static std::size_t bucket_of(std::uint64_t nanoseconds) noexcept;
    static std::uint64_t end_of(std::size_t bucket) noexcept;

    std::array<std::atomic<std::uint64_t>, buckets> counts_{};
    std::atomic<std::uint64_t> longest_{0};
};

}  // namespace tensorfs
