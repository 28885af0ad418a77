#pragma once

// How the blocks of GGUF's quantised types are read. A type is a struct like
//
//     struct Q8_0 {
//         static constexpr std::size_t elements = 32, nbytes = 34;  // of one block
//         [[gnu::always_inline]] static void values(const std::byte* block, float* out) { ... }
//     };
//
// Blocks are little-endian, packed without padding, and lie at any address. Values are computed in float32, each
// operation rounded once, in the order that is written, which is the reference's (ggml's): the bits are part of the
// format. What scales hold goes through arithmetic as it is: an infinite one times 0 is NaN.
//
// What is said of a type begins with its fields, each as "byte where it begins: name and type". `d` is a scale, q an
// element's code, j an element's place in the block; f16 is a binary16; lo and hi are the lower and the upper four bits
// of a byte. In n bytes of "split nibbles", element j is lo of byte j and element n + j is hi of byte j.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/tensors/half.hpp"

namespace tensorfs::quantised {

/// The number of type T at `at`. (Compiles to a load.)
template <class T>
[[gnu::always_inline]] inline T load(const std::byte* at) {
    T value{};
    std::memcpy(&value, at, sizeof value);
    return value;
}

[[gnu::always_inline]] inline std::uint32_t u8(const std::byte* at) { return static_cast<std::uint32_t>(*at); }
[[gnu::always_inline]] inline std::int32_t i8(const std::byte* at) { return load<std::int8_t>(at); }
[[gnu::always_inline]] inline std::uint32_t u16(const std::byte* at) { return load<std::uint16_t>(at); }
[[gnu::always_inline]] inline std::uint32_t u32(const std::byte* at) { return load<std::uint32_t>(at); }
[[gnu::always_inline]] inline float f16(const std::byte* at) { return widen_half(u16(at)); }

[[gnu::always_inline]] inline std::uint32_t lo(std::uint32_t byte) { return byte & 15; }
[[gnu::always_inline]] inline std::uint32_t hi(std::uint32_t byte) { return byte >> 4; }

/// Nibble `i` of bytes, lo of the first being nibble 0.
[[gnu::always_inline]] inline std::uint32_t nibble(const std::byte* bytes, std::size_t i) {
    return u8(bytes + i / 2) >> (i % 2 * 4) & 15;
}

/// A code in 64 bytes of planes. Each `half` of them holds 128 elements in four planes: element `l` of the 32 of
/// `plane` is two bits of byte l, of the first plane the lowest two, of the next the two above, and so on.
[[gnu::always_inline]] inline std::uint32_t plane_code(const std::byte* bytes, std::size_t half, std::size_t plane,
                                                       std::size_t l) {
    return u8(bytes + 32 * half + l) >> (2 * plane) & 3;
}

/// A small whole number as a float, exactly. (By way of a signed one: processors before AVX-512 convert no other.)
[[gnu::always_inline]] inline float real(std::uint32_t number) {
    return static_cast<float>(static_cast<std::int32_t>(number));
}
[[gnu::always_inline]] inline float real(std::int32_t number) { return static_cast<float>(number); }

/// `number` less `by`, which may be below 0, as a float.
[[gnu::always_inline]] inline float real_less(std::uint32_t number, std::int32_t by) {
    return static_cast<float>(static_cast<std::int32_t>(number) - by);
}

/// `value`, or -value if bit `k` of `bits` is set. (Without a branch, which could not be foreseen.)
[[gnu::always_inline]] inline float negated_if(float value, std::uint32_t bits, std::size_t k) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ (bits << (31 - k) & 0x80000000U));
}

}  // namespace tensorfs::quantised
