#pragma once

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include "fs/options/owner.hpp"
#include "fs/volume/volume.hpp"

namespace tensorfs {

/// A node's stat. Files are 0444 and folders 0555 less the umask; a folder has two links and one
/// for each folder listed in it, size 0 (so that `du --apparent-size` is the tensors' bytes) and,
/// as st_blksize, what its listing needs, from 4 to 128 KiB; a file has its size, rounded up to
/// 4 KiB, and likewise at most 128 KiB there. A file's blocks are its size in 512-byte blocks, rounded
/// up. `generation` is the number that the model's node ids carry.
struct stat to_stat(const Node& node, const Owner& owner, std::uint16_t generation = 0);

/// The filesystem's numbers: as large as its tensors, and full, in blocks of 512 bytes.
struct statvfs to_statvfs(const Volume& volume);

}  // namespace tensorfs
