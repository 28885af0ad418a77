#pragma once

// The codebooks of GGUF's IQ1, IQ2 and IQ3 types: by a code, a run of eight or four values. The numbers are those of
// ggml (github.com/ggml-org/ggml, src/ggml-common.h), written more densely; they are part of the format. ggml is under
// the MIT License, Copyright (c) 2023-2026 The ggml authors: see LICENSE.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tensorfs::quantised {

template <class Value, std::size_t length, std::size_t entries>
using Codebook = std::array<std::array<Value, length>, entries>;

extern const Codebook<std::int8_t, 8, 2048> iq1_book;
extern const Codebook<std::uint8_t, 8, 256> iq2_xxs_book;
extern const Codebook<std::uint8_t, 8, 512> iq2_xs_book;
extern const Codebook<std::uint8_t, 8, 1024> iq2_s_book;
extern const Codebook<std::uint8_t, 4, 256> iq3_xxs_book;
extern const Codebook<std::uint8_t, 4, 512> iq3_s_book;

/// Seven signs and, as the uppermost bit, the eighth: the one that makes the number of negative ones even.
inline constexpr std::array<std::uint8_t, 128> even_signs = [] {
    std::array<std::uint8_t, 128> signs{};
    for (unsigned seven = 0; seven < signs.size(); ++seven) {
        signs[seven] = static_cast<std::uint8_t>(seven | (std::popcount(seven) % 2 != 0 ? 0x80 : 0));
    }
    return signs;
}();

}  // namespace tensorfs::quantised
