#pragma once

#include <bit>
#include <cstdint>

namespace tensorfs {

/// The value of an IEEE 754 binary16, exactly; a NaN keeps its sign and mantissa. Without branches, so that a loop of
/// it can be made of vector instructions.
[[gnu::always_inline]] inline float widen_half(std::uint32_t code) {
    constexpr std::uint32_t exponent_mask = 0x1FU << 23;  // a binary16's exponent, moved to where it is in a float32
    constexpr std::uint32_t rebias = (127U - 15U) << 23;
    constexpr std::uint32_t smallest = (127U - 14U) << 23;  // 2^-14, the smallest normal binary16
    const std::uint32_t sign = (code & 0x8000U) << 16;
    const std::uint32_t moved = (code & 0x7FFFU) << 13;
    const std::uint32_t exponent = moved & exponent_mask;
    const std::uint32_t normal = moved + (exponent == exponent_mask ? 2 * rebias : rebias);
    // A subnormal's mantissa, behind a leading one that is taken away again.
    const float subnormal = std::bit_cast<float>(moved + smallest) - std::bit_cast<float>(smallest);
    return std::bit_cast<float>(sign | (exponent == 0 ? std::bit_cast<std::uint32_t>(subnormal) : normal));
}

}  // namespace tensorfs
