#pragma once

// The types whose codes choose runs of four or eight values out of a codebook: a block is 256 elements, in eight groups
// g of 32, each of four runs l of eight. See fields.hpp for terms and arithmetic, codebooks.hpp for the codebooks.

#include "core/tensors/quantised/codebooks.hpp"
#include "core/tensors/quantised/fields.hpp"

namespace tensorfs::quantised {

/// `scale` times the values of an entry, those negated whose bit is set in `signs`.
template <std::size_t length>
[[gnu::always_inline]] inline void signed_run(float scale, const std::array<std::uint8_t, length>& entry,
                                              std::uint32_t signs, float* out) {
    for (std::size_t k = 0; k < length; ++k) {
        out[k] = negated_if(scale * real(std::uint32_t{entry[k]}), signs, k);
    }
}

/// `scale` times the values of an entry to each of which `shift` is added before.
[[gnu::always_inline]] inline void shifted_run(float scale, const std::array<std::int8_t, 8>& entry, float shift,
                                               float* out) {
    for (std::size_t k = 0; k < 8; ++k) out[k] = scale * (real(std::int32_t{entry[k]}) + shift);
}

/// The scale of the types of two bits: that of a nibble.
[[gnu::always_inline]] inline float scale_of(float d, std::uint32_t nibble) {
    return d * (0.5F + real(nibble)) * 0.25F;
}

/// 0: d f16, 2: for each group two u32, a and b. Entry of run l: byte l of a. Signs: those of the seven bits from bit
/// 7l of b on. Scale: of the upper four bits of b.
struct IQ2_XXS {
    static constexpr std::size_t elements = 256, nbytes = 66;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        for (std::size_t g = 0; g < 8; ++g) {
            const std::byte* const a = block + 2 + 8 * g;
            const std::uint32_t b = u32(a + 4);
            const float scale = scale_of(d, b >> 28);
            for (std::size_t l = 0; l < 4; ++l) {
                signed_run(scale, iq2_xxs_book[u8(a + l)], even_signs[b >> (7 * l) & 127], out + 32 * g + 8 * l);
            }
        }
    }
};

/// 0: d f16, 2: for each run a u16, 66: 8 bytes of scales. Entry: the lower nine bits. Signs: those of the upper seven.
/// Scale: nibble l / 2 of byte g.
struct IQ2_XS {
    static constexpr std::size_t elements = 256, nbytes = 74;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        for (std::size_t run = 0; run < 32; ++run) {
            const std::uint32_t code = u16(block + 2 + 2 * run);
            signed_run(scale_of(d, nibble(block + 66, run / 2)), iq2_xs_book[code & 511], even_signs[code >> 9],
                       out + 8 * run);
        }
    }
};

/// 0: d f16, 2: qs 32 bytes, 34: signs 32 bytes, 66: qh 8 bytes, 74: scales 8 bytes. Entry: a byte of qs, and above it
/// the bits 2l and 2l + 1 of qh[g]. Scale: as IQ2_XS.
struct IQ2_S {
    static constexpr std::size_t elements = 256, nbytes = 82;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        for (std::size_t run = 0; run < 32; ++run) {
            const std::uint32_t high = u8(block + 66 + run / 4) >> (run % 4 * 2) & 3;
            signed_run(scale_of(d, nibble(block + 74, run / 2)), iq2_s_book[u8(block + 2 + run) | high << 8],
                       u8(block + 34 + run), out + 8 * run);
        }
    }
};

/// 0: d f16, 2: qs 64 bytes, 66: for each group a u32 a. Entries: two for a run, each a byte of qs. Signs and scale: as
/// IQ2_XXS, of a; but half of it where that is a quarter.
struct IQ3_XXS {
    static constexpr std::size_t elements = 256, nbytes = 98;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        for (std::size_t g = 0; g < 8; ++g) {
            const std::uint32_t a = u32(block + 66 + 4 * g);
            const float scale = d * (0.5F + real(a >> 28)) * 0.5F;
            for (std::size_t l = 0; l < 4; ++l) {
                const std::byte* const qs = block + 2 + 8 * g + 2 * l;
                const std::uint32_t signs = even_signs[a >> (7 * l) & 127];
                signed_run(scale, iq3_xxs_book[u8(qs)], signs, out + 32 * g + 8 * l);
                signed_run(scale, iq3_xxs_book[u8(qs + 1)], signs >> 4, out + 32 * g + 8 * l + 4);
            }
        }
    }
};

/// 0: d f16, 2: qs 64 bytes, 66: qh 8 bytes, 74: signs 32 bytes, 106: scales 4 bytes. Entries: two for a run, each a
/// byte of qs, and above it a bit of qh[g], of its eight in their order. Scale: d (1 + 2 nibble g of scales).
struct IQ3_S {
    static constexpr std::size_t elements = 256, nbytes = 110;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        for (std::size_t g = 0; g < 8; ++g) {
            const float scale = d * real(1 + 2 * nibble(block + 106, g));
            const std::uint32_t qh = u8(block + 66 + g);
            for (std::size_t i = 0; i < 8; ++i) {
                const std::uint32_t code = u8(block + 2 + 8 * g + i) | (qh >> i & 1) << 8;
                signed_run(scale, iq3_s_book[code], nibble(block + 74 + 4 * g, i), out + 32 * g + 4 * i);
            }
        }
    }
};

/// What the types of one bit add to a value of the codebook.
[[gnu::always_inline]] inline float shift_of(bool is_negative) { return is_negative ? -0.125F : 0.125F; }

/// 0: d f16, 2: qs 32 bytes, 34: for each group a u16 h. Entry: a byte of qs, and above it three bits of h from bit 3l
/// on. Scale: d (2 (bits 12-14 of h) + 1). Value: scale (entry's value + shift), the shift being negative with bit 15
/// of h.
struct IQ1_S {
    static constexpr std::size_t elements = 256, nbytes = 50;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block);
        for (std::size_t g = 0; g < 8; ++g) {
            const std::uint32_t h = u16(block + 34 + 2 * g);
            const float scale = d * real(2 * (h >> 12 & 7) + 1);
            const float shift = shift_of((h & 0x8000) != 0);
            for (std::size_t l = 0; l < 4; ++l) {
                const std::uint32_t code = u8(block + 2 + 4 * g + l) | (h >> (3 * l) & 7) << 8;
                shifted_run(scale, iq1_book[code], shift, out + 32 * g + 8 * l);
            }
        }
    }
};

/// 0: qs 32 bytes, 32: qh 16 bytes, 48: 4 u16 of scales. Each run has a nibble of qh: three bits above its byte of qs,
/// and whether the shift is negative. Scales: of two runs each, d (2 s + 1), s being three bits, four times in each
/// u16 from the lowest on. Their upper nibbles are d, an f16, the lowest first. Value: as IQ1_S.
struct IQ1_M {
    static constexpr std::size_t elements = 256, nbytes = 56;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        std::uint32_t code_of_d = 0;
        for (std::size_t i = 0; i < 4; ++i) code_of_d |= u16(block + 48 + 2 * i) >> 12 << (4 * i);
        const float d = widen_half(code_of_d);
        for (std::size_t run = 0; run < 32; ++run) {
            const std::uint32_t s = u16(block + 48 + run / 8 * 2) >> (run % 8 / 2 * 3) & 7;
            const std::uint32_t high = nibble(block + 32, run);
            const std::uint32_t code = u8(block + run) | (high & 7) << 8;
            shifted_run(d * real(2 * s + 1), iq1_book[code], shift_of((high & 8) != 0), out + 8 * run);
        }
    }
};

}  // namespace tensorfs::quantised
