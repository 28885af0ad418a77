#pragma once

// The simple types: a block is a scale, or a scale and a minimum, and the codes. See fields.hpp for terms and
// arithmetic.

#include <array>

#include "core/tensors/quantised/fields.hpp"

namespace tensorfs::quantised {

/// 0: d f16, 2: 16 bytes, a bit an element, the lowest first. Value: d where the bit is set, else -d.
struct Q1_0 {
    static constexpr std::size_t elements = 128, nbytes = 18;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        for (std::size_t i = 0; i < 16; ++i) {
            const std::uint32_t bits = u8(block + 2 + i);
            for (std::size_t k = 0; k < 8; ++k) out[8 * i + k] = negated_if(-d, bits, k);
        }
    }
};

/// 0: d f16, 2: 16 bytes, two bits an element, the lowest first. Value: (q - 1) d.
struct Q2_0 {
    static constexpr std::size_t elements = 64, nbytes = 18;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        const std::array<float, 4> value{-1.0F * d, 0.0F * d, 1.0F * d, 2.0F * d};
        for (std::size_t i = 0; i < 16; ++i) {
            const std::uint32_t codes = u8(block + 2 + i);
            for (std::size_t k = 0; k < 4; ++k) out[4 * i + k] = value[codes >> (2 * k) & 3];
        }
    }
};

/// 0: d f16, 2: 16 bytes of split nibbles. Value: (q - 8) d.
struct Q4_0 {
    static constexpr std::size_t elements = 32, nbytes = 18;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        for (std::size_t j = 0; j < 16; ++j) {
            const std::uint32_t byte = u8(block + 2 + j);
            out[j] = real_less(lo(byte), 8) * d;
            out[16 + j] = real_less(hi(byte), 8) * d;
        }
    }
};

/// 0: d f16, 2: m f16, 4: 16 bytes of split nibbles. Value: q d + m.
struct Q4_1 {
    static constexpr std::size_t elements = 32, nbytes = 20;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        const float m = f16(block + 2);
        for (std::size_t j = 0; j < 16; ++j) {
            const std::uint32_t byte = u8(block + 4 + j);
            out[j] = real(lo(byte)) * d + m;
            out[16 + j] = real(hi(byte)) * d + m;
        }
    }
};

/// Bit `j` of `bits` as the fifth bit of a code. (By a mask, for not every vector unit shifts by different counts.)
[[gnu::always_inline]] inline std::uint32_t fifth(std::uint32_t bits, std::size_t j) {
    return (bits & 1U << j) != 0 ? 16 : 0;
}

/// 0: d f16, 2: qh u32, 6: 16 bytes of split nibbles; bit j of qh is the fifth of q. Value: (q - 16) d.
struct Q5_0 {
    static constexpr std::size_t elements = 32, nbytes = 22;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        const std::uint32_t qh = u32(block + 2);
        for (std::size_t j = 0; j < 16; ++j) {
            const std::uint32_t byte = u8(block + 6 + j);
            out[j] = real_less(lo(byte) | fifth(qh, j), 16) * d;
            out[16 + j] = real_less(hi(byte) | fifth(qh >> 16, j), 16) * d;
        }
    }
};

/// 0: d f16, 2: m f16, 4: qh u32, 8: 16 bytes of split nibbles; bit j of qh is the fifth of q. Value: q d + m.
struct Q5_1 {
    static constexpr std::size_t elements = 32, nbytes = 24;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        const float m = f16(block + 2);
        const std::uint32_t qh = u32(block + 4);
        for (std::size_t j = 0; j < 16; ++j) {
            const std::uint32_t byte = u8(block + 8 + j);
            out[j] = real(lo(byte) | fifth(qh, j)) * d + m;
            out[16 + j] = real(hi(byte) | fifth(qh >> 16, j)) * d + m;
        }
    }
};

/// 0: d f16, 2: 32 i8. Value: q d.
struct Q8_0 {
    static constexpr std::size_t elements = 32, nbytes = 34;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        for (std::size_t j = 0; j < elements; ++j) out[j] = real(i8(block + 2 + j)) * d;
    }
};

/// 0: d f16, 2: d times the sum of the codes, f16, 4: 32 i8. Value: q d; the sum is not needed.
struct Q8_1 {
    static constexpr std::size_t elements = 32, nbytes = 36;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        for (std::size_t j = 0; j < elements; ++j) out[j] = real(i8(block + 4 + j)) * d;
    }
};

/// 0: d f32, 4: 256 i8, 260: 16 i16, sums of 16 codes each. Value: d q; the sums are not needed.
struct Q8_K {
    static constexpr std::size_t elements = 256, nbytes = 292;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const auto d = load<float>(block);
        for (std::size_t j = 0; j < elements; ++j) out[j] = d * real(i8(block + 4 + j));
    }
};

}  // namespace tensorfs::quantised
