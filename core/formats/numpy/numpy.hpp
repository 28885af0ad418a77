#pragma once

// NumPy's files as formats of the table in formats.hpp: one array (array_header.hpp), and an archive of arrays
// (archive.hpp). Neither holds metadata.

#include <string_view>

#include "core/formats/header.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs::numpy {

/// Whether a file is one array, by its first bytes.
bool is_array_file(std::string_view beginning, const Shard& shard);
/// Whether a file is a zip archive that holds arrays, or is one that cannot be read and is called .npz. A
/// PyTorch checkpoint can hold members with such names, too, and goes before. Throws Error (SystemError).
bool is_archive(std::string_view beginning, const Shard& shard);

/// The header of a file of one array, whose name is the file's without the suffix. Throws Error.
Header read_array_file(const Shard& shard, const HeaderOptions& options);
/// The header of an archive, with a note for each member that is left out. Throws Error.
Header read_archive_file(const Shard& shard, const HeaderOptions& options);

}  // namespace tensorfs::numpy
