#include "fs/statistics/latency.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tensorfs {

std::size_t Latency::bucket_of(std::uint64_t nanoseconds) noexcept {
    constexpr std::uint64_t subs = 1 << sub_bits;
    if (nanoseconds < subs) return nanoseconds;
    const auto exponent = static_cast<unsigned>(std::bit_width(nanoseconds)) - 1;
    const std::uint64_t sub = nanoseconds >> (exponent - sub_bits) & (subs - 1);
    return ((exponent - sub_bits + 1) << sub_bits) + sub;
}

/// The longest time that belongs to a bucket.
std::uint64_t Latency::end_of(std::size_t bucket) noexcept {
    constexpr std::uint64_t subs = 1 << sub_bits;
    if (bucket < subs) return bucket;
    const unsigned shift = static_cast<unsigned>(bucket >> sub_bits) - 1;
    const std::uint64_t begin = (subs + (bucket & (subs - 1))) << shift;
    return begin + ((std::uint64_t{1} << shift) - 1);
}

void Latency::count(std::chrono::nanoseconds time) noexcept {
    const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::chrono::nanoseconds::rep>(time.count(), 0));
    counts_[bucket_of(nanoseconds)].fetch_add(1, std::memory_order_relaxed);
    std::uint64_t longest = longest_.load(std::memory_order_relaxed);
    while (longest < nanoseconds && !longest_.compare_exchange_weak(longest, nanoseconds, std::memory_order_relaxed)) {
    }
}

std::uint64_t Latency::total() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& count : counts_) sum += count.load(std::memory_order_relaxed);
    return sum;
}

std::chrono::nanoseconds Latency::percentile(double share) const noexcept {
    const std::uint64_t all = total();
    if (all == 0) return {};
    const auto wanted =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(all))));
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
        seen += counts_[bucket].load(std::memory_order_relaxed);
        if (seen >= wanted) return std::min(std::chrono::nanoseconds(end_of(bucket)), longest());
    }
    return longest();
}

std::chrono::nanoseconds Latency::longest() const noexcept {
    return std::chrono::nanoseconds(longest_.load(std::memory_order_relaxed));
}

}  // namespace tensorfs
