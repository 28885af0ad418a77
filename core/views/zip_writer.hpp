#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/views/model_file.hpp"

namespace tensorfs {

/// The CRC-32 that a zip archive has of a file.
std::uint32_t zip_checksum(std::string_view bytes);
/// That of two texts one behind the other, of which the second has so many bytes.
std::uint32_t joined_checksum(std::uint32_t first, std::uint32_t second, std::uint64_t second_nbytes);

/// Lays out a zip archive of stored (uncompressed) files, by PKWARE's APPNOTE 6.3, with
/// ZIP64 where a size, a place or the number of files needs it. Each file's bytes begin at a multiple
/// of 64, by an extra field as PyTorch's own writer has it. Names are UTF-8.
class ZipWriter {
public:
    /// Appends a file of made bytes, with its checksum.
    void add(std::string_view name, std::string bytes);
    /// Appends a file of made bytes and a tensor's elements behind them. `checksum` is that of the elements, where it
    /// is known: else that of the file stands as 0, since to know it, all of them would have to be read.
    void add(std::string_view name, std::string head, const FileTensor& tensor,
             std::optional<std::uint32_t> checksum = {});
    /// Appends the directory, and gives the archive away. Its places are the tensors in the order in which they were
    /// added.
    ModelFile finish();

private:
    void add_local_header(std::string_view name, std::uint64_t nbytes, std::uint32_t checksum);

    ModelFile file_;
    std::string directory_;
    std::uint64_t files_ = 0;
};

/// What a name must not be or hold as that of a file in an archive that others unpack: a way out of their folder, or
/// what a terminal obeys. What is wrong with it, or "" if nothing is.
std::string_view member_name_problem(std::string_view name);

}  // namespace tensorfs
