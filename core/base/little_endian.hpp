#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tensorfs {

/// Appends the lowest `size` bytes of a number, the lowest first, as all formats here have them.
inline void append_little_endian(std::string& out, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i, value >>= 8) out += static_cast<char>(value & 0xFF);
}

/// The number of `size` bytes, at most 8, that stands at `at`, the lowest first. REQUIRES: they are there.
inline std::uint64_t little_endian_at(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
}

}  // namespace tensorfs
