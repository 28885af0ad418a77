#include "fs/volume/stat.hpp"

#include <algorithm>
#include <bit>

#include "core/model/names.hpp"

namespace tensorfs {
namespace {

constexpr std::uint64_t stat_block = 512;
constexpr std::uint64_t page = 4096;
// The C library and Python allocate st_blksize for each open file; `cat` gains nothing from more.
constexpr std::uint64_t largest_buffer = 128 << 10;

/// The file rounded up to pages.
std::uint64_t file_size(std::uint64_t nbytes) {
    const std::uint64_t within = std::min(nbytes, largest_buffer);
    return std::max((within + page - 1) / page * page, page);
}

/// What a listing of `entries` names is likely to need, as a power of two: the C library allocates
/// a buffer of st_blksize for every opendir, and the kernel asks for as much at a time.
std::uint64_t listing_size(std::uint32_t entries) {
    constexpr std::uint64_t bytes_per_entry = 256;  // a READDIRPLUS record and its name
    return std::clamp<std::uint64_t>(std::bit_ceil((entries + std::uint64_t{2}) * bytes_per_entry), page,
                                     largest_buffer);
}

}  // namespace

struct stat to_stat(const Node& node, const Owner& owner, std::uint16_t generation) {
    struct stat out {};
    const mode_t permissions = node.is_folder ? 0555 : 0444;
    out.st_ino = NodeId{generation, node.inode}.number();
    out.st_mode = (node.is_folder ? S_IFDIR : S_IFREG) | (permissions & ~owner.umask);
    out.st_nlink = node.is_folder ? 2 + node.folders : 1;
    out.st_uid = owner.uid;
    out.st_gid = owner.gid;
    out.st_size = static_cast<off_t>(node.nbytes);
    out.st_blocks = static_cast<blkcnt_t>((node.nbytes + stat_block - 1) / stat_block);
    out.st_blksize = static_cast<blksize_t>(node.is_folder ? listing_size(node.entries) : file_size(node.nbytes));
    out.st_atim = out.st_mtim = out.st_ctim = node.modified;
    return out;
}

struct statvfs to_statvfs(const Volume& volume) {
    struct statvfs out {};
    out.f_bsize = out.f_frsize = stat_block;  // alike, since many programs multiply blocks by f_bsize
    out.f_blocks = volume.blocks();
    out.f_files = volume.tree().size();
    out.f_namemax = max_segment;
    return out;
}

}  // namespace tensorfs
