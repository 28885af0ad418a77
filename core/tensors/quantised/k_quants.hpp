#pragma once

// The k-quants: a block of 256 elements, in groups of 16 or 32 whose scales are themselves quantised. See fields.hpp
// for terms and arithmetic.

#include <array>

#include "core/tensors/quantised/fields.hpp"

namespace tensorfs::quantised {

/// 0: 16 bytes, for each 16 elements a scale (lo) and a minimum (hi), 16: 64 bytes of planes, 80: d f16, 82: dmin f16.
/// Value: (d scale) q - (dmin minimum).
struct Q2_K {
    static constexpr std::size_t elements = 256, nbytes = 84;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block + 80);
        const float dmin = f16(block + 82);
        for (std::size_t g = 0; g < 16; ++g) {
            const float scale = d * real(lo(u8(block + g)));
            const float minimum = dmin * real(hi(u8(block + g)));
            for (std::size_t l = 0; l < 16; ++l) {
                const std::uint32_t q = plane_code(block + 16, g / 8, g % 8 / 2, 16 * (g % 2) + l);
                out[16 * g + l] = scale * real(q) - minimum;
            }
        }
    }
};

/// 0: hmask 32 bytes, 32: 64 bytes of planes, 96: 12 bytes of scales, 108: d f16. A scale has six bits: of group g of
/// 16, nibble g / 8 of byte g mod 8, and above it two bits, g / 4 from below, of byte 8 + g mod 4. The third bit of q
/// is bit j / 32 of hmask[j mod 32]. Value: (d (scale - 32)) (q - 4).
struct Q3_K {
    static constexpr std::size_t elements = 256, nbytes = 110;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const std::byte* const scales = block + 96;
        const float d = f16(block + 108);
        for (std::size_t g = 0; g < 16; ++g) {
            const std::uint32_t low = u8(scales + g % 8) >> (g / 8 * 4) & 15;
            const std::uint32_t high = u8(scales + 8 + g % 4) >> (g / 4 * 2) & 3;
            const float scale = d * real_less(low | high << 4, 32);
            for (std::size_t l = 0; l < 16; ++l) {
                const std::size_t at = 16 * (g % 2) + l;
                const std::uint32_t third = u8(block + at) >> (g / 2) & 1;
                const std::uint32_t q = plane_code(block + 32, g / 8, g % 8 / 2, at) | third << 2;
                out[16 * g + l] = scale * real_less(q, 4);
            }
        }
    }
};

/// The scales and minima of Q4_K and Q5_K: eight of each, of six bits, in 12 bytes. Those of the first four groups are
/// the lower six bits of bytes 0-3 and 4-7; of the last four the lower four bits stand in bytes 8-11, the scale's in
/// lo and the minimum's in hi, and the upper two above those of the first four.
struct Sixes {
    std::array<float, 8> scale, minimum;

    [[gnu::always_inline]] Sixes(const std::byte* b, float d, float dmin) {
        for (std::size_t g = 0; g < 4; ++g) {
            scale[g] = d * real(u8(b + g) & 63);
            minimum[g] = dmin * real(u8(b + 4 + g) & 63);
            scale[4 + g] = d * real(lo(u8(b + 8 + g)) | u8(b + g) >> 6 << 4);
            minimum[4 + g] = dmin * real(hi(u8(b + 8 + g)) | u8(b + 4 + g) >> 6 << 4);
        }
    }
};

/// 0: d f16, 2: dmin f16, 4: 12 bytes of scales and minima, 16: 128 bytes, in groups of 32 of split nibbles. Value:
/// (d scale) q - (dmin minimum), scale and minimum being of a group of 32 elements.
struct Q4_K {
    static constexpr std::size_t elements = 256, nbytes = 144;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const Sixes sixes(block + 4, f16(block), f16(block + 2));
        for (std::size_t g = 0; g < 8; g += 2) {
            for (std::size_t l = 0; l < 32; ++l) {
                const std::uint32_t byte = u8(block + 16 + 16 * g + l);
                out[32 * g + l] = sixes.scale[g] * real(lo(byte)) - sixes.minimum[g];
                out[32 * g + 32 + l] = sixes.scale[g + 1] * real(hi(byte)) - sixes.minimum[g + 1];
            }
        }
    }
};

/// 0: d f16, 2: dmin f16, 4: 12 bytes of scales and minima, 16: qh 32 bytes, 48: 128 bytes, in groups of 32 of split
/// nibbles. The fifth bit of q is bit j / 32 of qh[j mod 32]. Value: as Q4_K.
struct Q5_K {
    static constexpr std::size_t elements = 256, nbytes = 176;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const Sixes sixes(block + 4, f16(block), f16(block + 2));
        for (std::size_t g = 0; g < 8; g += 2) {
            for (std::size_t l = 0; l < 32; ++l) {
                const std::uint32_t byte = u8(block + 48 + 16 * g + l);
                const std::uint32_t fifths = u8(block + 16 + l) >> g;
                out[32 * g + l] = sixes.scale[g] * real(lo(byte) | (fifths & 1) << 4) - sixes.minimum[g];
                out[32 * g + 32 + l] = sixes.scale[g + 1] * real(hi(byte) | (fifths & 2) << 3) - sixes.minimum[g + 1];
            }
        }
    }
};

/// 0: ql 128 bytes, 128: qh 64 bytes of planes, 192: 16 scales i8, 208: d f16. The lower four bits of q are in ql,
/// whose halves hold 128 elements each in 64 bytes of split nibbles; the upper two in qh. Value: (d scale) (q - 32),
/// scale being of a group of 16 elements.
struct Q6_K {
    static constexpr std::size_t elements = 256, nbytes = 210;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block + 208);
        for (std::size_t g = 0; g < 16; ++g) {
            const std::size_t half = g / 8, plane = g % 8 / 2;
            const float scale = d * real(i8(block + 192 + g));
            for (std::size_t l = 0; l < 16; ++l) {
                const std::size_t at = 16 * (g % 2) + l;
                const std::uint32_t low = u8(block + 64 * half + 32 * (plane % 2) + at) >> (plane / 2 * 4) & 15;
                const std::uint32_t high = plane_code(block + 128, half, plane, at);
                out[16 * g + l] = scale * real_less(low | high << 4, 32);
            }
        }
    }
};

}  // namespace tensorfs::quantised
