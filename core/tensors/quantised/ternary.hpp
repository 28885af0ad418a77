#pragma once

// The ternary types: 256 elements of -1, 0 or 1, times one scale. See fields.hpp for terms and arithmetic.

#include <array>

#include "core/tensors/quantised/fields.hpp"

namespace tensorfs::quantised {

/// 0: 48 bytes of five trits each, 48: 4 bytes of four, 52: d f16. Trit n of a byte x, 0 to 2,
/// is 3 (x 3^n mod 256) / 256, rounded down. Order of the elements: the first trits of bytes 0-31, their second ones,
/// ..., then those of bytes 32-47, then those of bytes 48-51. Value: (trit - 1) d.
struct TQ1_0 {
    static constexpr std::size_t elements = 256, nbytes = 54;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block + 52);
        trits<32, 5>(block, d, out);
        trits<16, 5>(block + 32, d, out + 160);
        trits<4, 4>(block + 48, d, out + 240);
    }

private:
    template <std::size_t count, std::size_t trits_of_byte>
    [[gnu::always_inline]] static void trits(const std::byte* bytes, float d, float* out) {
        constexpr std::array<std::uint32_t, 5> power_of_3{1, 3, 9, 27, 81};
        for (std::size_t n = 0; n < trits_of_byte; ++n) {
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint32_t x = u8(bytes + i) * power_of_3[n] & 255;
                out[count * n + i] = real_less(3 * x >> 8, 1) * d;
            }
        }
    }
};

/// 0: 64 bytes of planes, 64: d f16. Value: (q - 1) d, which for the code that no quantiser makes is 2 d.
struct TQ2_0 {
    static constexpr std::size_t elements = 256, nbytes = 66;
    [[gnu::always_inline]] static void values(const std::byte* block, float* out) {
        const float d = f16(block + 64);
        for (std::size_t g = 0; g < 8; ++g) {
            for (std::size_t l = 0; l < 32; ++l) {
                out[32 * g + l] = real_less(plane_code(block, g / 4, g % 4, l), 1) * d;
            }
        }
    }
};

}  // namespace tensorfs::quantised
