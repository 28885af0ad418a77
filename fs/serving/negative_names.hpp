#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace tensorfs {

/// A Bloom filter of the names that lookups in the root did not find. The kernel caches each such answer, so a reload
/// that brings the name must make it forget. Names are never removed. Thread-safe.
class NegativeNames {
public:
    void add(std::string_view name) noexcept {
        const std::size_t bit = bit_of(name);
        words_[bit / 64].fetch_or(std::uint64_t{1} << bit % 64);
    }
    /// False only if the name was never added.
    [[nodiscard]] bool may_contain(std::string_view name) const noexcept {
        const std::size_t bit = bit_of(name);
        return (words_[bit / 64].load() >> bit % 64 & 1) != 0;
    }

private:
    static constexpr std::size_t bits = 1 << 16;
    static std::size_t bit_of(std::string_view name) noexcept { return std::hash<std::string_view>{}(name) % bits; }

    std::array<std::atomic<std::uint64_t>, bits / 64> words_{};
};

}  // namespace tensorfs
