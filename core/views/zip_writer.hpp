#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/tensors/content.hpp"

namespace tensorfs {

/// Lays out a zip archive of stored (uncompressed) files as a content, by PKWARE's APPNOTE 6.3, with
/// ZIP64 where a size, a place or the number of files needs it. Each file's bytes begin at a multiple
/// of 64, by an extra field as PyTorch's own writer has it.
class ZipWriter {
public:
    /// Appends a file of made bytes, with its checksum.
    void add(std::string_view name, std::string bytes);
    /// Appends a file that is a slice of a shard. Its checksum stands as 0: to know it, all of the
    /// slice would have to be read.
    void add(std::string_view name, const Slice& slice);
    /// Appends the directory, and gives the archive away.
    Content finish();

private:
    void add_local_header(std::string_view name, std::uint64_t nbytes, std::uint32_t checksum);

    Content content_;
    std::string directory_;
    std::uint64_t files_ = 0;
};

}  // namespace tensorfs
