#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tensorfs {

// Numbers as people read them.

/// "12,345,678".
std::string with_commas(std::uint64_t number);

/// "1 tensor", "12,345 tensors".
std::string counted(std::uint64_t number, std::string_view noun);

/// A number of bytes in powers of 1000: "16.8 MB", "512 bytes".
std::string human_bytes(std::uint64_t bytes);

/// What a number of bytes says: "512", or "5GB" and the like: KB, MB, GB and TB in powers of 1000, KiB, MiB, GiB and
/// TiB in powers of 1024. Nothing where it is no such text, or does not fit.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace tensorfs
