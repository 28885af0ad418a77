#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/tensors/content.hpp"

namespace tensorfs {

/// The CRC-32 that a zip archive has of a file.
std::uint32_t zip_checksum(std::string_view bytes);

/// Lays out a zip archive of stored (uncompressed) files as a content, by PKWARE's APPNOTE 6.3, with
/// ZIP64 where a size, a place or the number of files needs it. Each file's bytes begin at a multiple
/// of 64, by an extra field as PyTorch's own writer has it.
class ZipWriter {
public:
    /// Appends a file of made bytes, with its checksum.
    void add(std::string_view name, std::string bytes);
    /// Appends a file of a tensor's elements, with their checksum, where that is known: else it stands as 0, since
    /// to know it, all of them would have to be read.
    void add(std::string_view name, const Tensor& tensor, std::uint32_t checksum = 0);
    /// Appends the directory, and gives the archive away.
    Content finish();

private:
    void add_local_header(std::string_view name, std::uint64_t nbytes, std::uint32_t checksum);

    Content content_;
    std::string directory_;
    std::uint64_t files_ = 0;
};

}  // namespace tensorfs
