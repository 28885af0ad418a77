#pragma once

// The types whose codes of four bits stand for the values of a table. See fields.hpp for terms and arithmetic.

#include <array>
#include <bit>

#include "core/tensors/quantised/fields.hpp"

namespace tensorfs::quantised {

/// The sixteen values of IQ4_NL and IQ4_XS. (ggml's kvalues_iq4nl; see codebooks.hpp.)
inline constexpr std::array<float, 16> nonlinear{-127, -104, -83, -65, -49, -35, -22, -10,
                                                 1,    13,   25,  38,  53,  69,  89,  113};

/// Twice the values of E2M1. The code of its negative zero is +0, as the reference's table is of integers.
inline constexpr std::array<float, 16> twice_e2m1{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// `n` bytes of split nibbles, whose values are `scale` times those of a table. Each of the sixteen products is
/// computed once, and then looked up.
template <std::size_t n>
[[gnu::always_inline]] inline void look_up(const std::byte* codes, float scale, const std::array<float, 16>& table,
                                           float* out) {
    std::array<float, 16> value{};
    for (std::size_t q = 0; q < 16; ++q) value[q] = scale * table[q];
    for (std::size_t j = 0; j < n; ++j) {
        const std::uint32_t byte = u8(codes + j);
        out[j] = value[lo(byte)];
        out[n + j] = value[hi(byte)];
    }
}

/// 0: d f16, 2: 16 bytes of split nibbles. Value: d nonlinear[q].
struct IQ4_NL {
    static constexpr std::size_t elements = 32, nbytes = 18;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        look_up<16>(block + 2, f16(block), nonlinear, out);
    }
};

/// 0: d f16, 2: scales_h u16, 4: scales_l 4 bytes, 8: 128 bytes, in groups of 16 of split nibbles. The scale of group g
/// has six bits: nibble g of scales_l, and above it the bits 2g and 2g + 1 of scales_h. Value: (d (scale - 32))
/// nonlinear[q].
struct IQ4_XS {
    static constexpr std::size_t elements = 256, nbytes = 136;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        const std::uint32_t scales_h = u16(block + 2);
        for (std::size_t g = 0; g < 8; ++g) {
            const std::uint32_t scale = nibble(block + 4, g) | (scales_h >> (2 * g) & 3) << 4;
            look_up<16>(block + 8 + 16 * g, d * real_less(scale, 32), nonlinear, out + 32 * g);
        }
    }
};

/// Half of an E8M0: 2^(e - 128). Its e of 255 is 2^127, and no NaN as OCP MX 1.0 has it.
[[gnu::always_inline]] inline float half_e8m0(std::uint32_t e) {
    constexpr std::uint32_t smallest = 0x00200000;  // 2^-128, a subnormal, as 2^-127 is
    return std::bit_cast<float>(e < 2 ? smallest << e : (e - 1) << 23);
}

/// 0: e u8, 1: 16 bytes of split nibbles. Value: twice_e2m1[q] 2^(e - 128).
struct MXFP4 {
    static constexpr std::size_t elements = 32, nbytes = 17;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        look_up<16>(block + 1, half_e8m0(u8(block)), twice_e2m1, out);
    }
};

/// Half of an unsigned E4M3 (bias 7) of the lower seven bits; 0x7F, which would be NaN, is 0, and 0xFF is not.
[[gnu::always_inline]] inline float half_ue4m3(std::uint32_t code) {
    const std::uint32_t exponent = code >> 3 & 15;
    const std::uint32_t mantissa = code & 7;
    const float subnormal = real(mantissa) * 0x1p-10F;
    const float normal = std::bit_cast<float>((exponent + 127 - 7 - 1) << 23 | mantissa << 20);
    return code == 0x7F ? 0.0F : exponent == 0 ? subnormal : normal;
}

/// 0: 4 scales u8, each for 16 elements, 4: 32 bytes, in groups of 8 of split nibbles. Value: twice_e2m1[q] times half
/// of the scale, an unsigned E4M3. (The factor that stands in a tensor by itself, X.scale, is not of the block.)
struct NVFP4 {
    static constexpr std::size_t elements = 64, nbytes = 36;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        for (std::size_t g = 0; g < 4; ++g) {
            look_up<8>(block + 4 + 8 * g, half_ue4m3(u8(block + g)), twice_e2m1, out + 16 * g);
        }
    }
};

}  // namespace tensorfs::quantised
