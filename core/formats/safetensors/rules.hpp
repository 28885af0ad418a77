#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/header.hpp"

namespace tensorfs::safetensors {

/// Rules 6 to 9 of safetensors.hpp over the entries of one header, which was read into `header` with a prefix of
/// `prefix` bytes before each name; makes the header's tensors of them. The data begins at `data_begin` of a file of
/// `file_size` bytes, whose `path` is for messages. Throws Error.
void check_entries(Header& header, std::vector<HeaderEntry> entries, std::uint64_t data_begin, std::uint64_t file_size,
                   const std::string& path, std::size_t prefix);

}  // namespace tensorfs::safetensors
