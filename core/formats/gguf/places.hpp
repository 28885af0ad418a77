#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/header.hpp"

namespace tensorfs::gguf {

/// A file's data.
struct DataSection {
    std::uint64_t begin;  // in the file, a multiple of the alignment
    std::uint64_t file_size;
    const std::string& path;  // of the file
};

/// Rules 9 to 11 over the entries of a file, in any order: makes the header's tensors of them, whose names stand behind
/// options.prefix. With options.partial, of two that are in each other's way the one that comes first stays. Throws
/// Error.
void place_entries(Header& header, std::vector<HeaderEntry> entries, const DataSection& data,
                   const HeaderOptions& options);

}  // namespace tensorfs::gguf
