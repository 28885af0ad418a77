#pragma once

#include <cstdint>

#include "core/tensors/shard.hpp"

namespace tensorfs::zip {

/// Where an archive's directory is.
struct DirectoryPlace {
    std::uint64_t offset;  // from the start of the file
    std::uint64_t nbytes;
    std::uint64_t entries;
};

/// Finds an archive's directory by the records at the file's end, by rules 1 to 3 of directory.hpp.
/// Throws Error (InvalidArchive, SystemError). Any thread may call it.
DirectoryPlace find_directory(const Shard& shard);

}  // namespace tensorfs::zip
