#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tensorfs {

/// Appends the lowest `size` bytes of a number, the lowest first, as all formats here have them.
inline void append_little_endian(std::string& out, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i, value >>= 8) out += static_cast<char>(value & 0xFF);
}

}  // namespace tensorfs
