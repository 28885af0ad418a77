#pragma once

// How the codebooks are written: an entry as one number, each of whose digits chooses one of a few values.

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/tensors/quantised/codebooks.hpp"

namespace tensorfs::quantised {

/// Entries of eight values: value k is chosen by the bits 2k and 2k + 1.
template <class Value, std::size_t entries>
consteval Codebook<Value, 8, entries> expand_pairs(const std::array<std::uint16_t, entries>& codes,
                                                   const std::array<Value, 3>& values) {
    Codebook<Value, 8, entries> book{};
    for (std::size_t i = 0; i < entries; ++i) {
        for (std::size_t k = 0; k < 8; ++k) book[i][k] = values[codes[i] >> (2 * k) & 3];
    }
    return book;
}

/// Entries of four values: the first octal digit chooses the first.
template <std::size_t entries>
consteval Codebook<std::uint8_t, 4, entries> expand_octal(const std::array<std::uint16_t, entries>& codes,
                                                          const std::array<std::uint8_t, 8>& values) {
    Codebook<std::uint8_t, 4, entries> book{};
    for (std::size_t i = 0; i < entries; ++i) {
        for (std::size_t k = 0; k < 4; ++k) book[i][k] = values[codes[i] >> (9 - 3 * k) & 7];
    }
    return book;
}

}  // namespace tensorfs::quantised
