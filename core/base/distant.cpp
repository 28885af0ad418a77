#include "core/base/distant.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace tensorfs {
namespace {

constexpr std::uint32_t fuse = 0x65735546;

/// From linux/magic.h and, where that lacks them, the filesystems' own sources; in the order of their names.
constexpr std::array<std::uint32_t, 15> distant{
    0x01021997,  // 9p
    0x5346414F,  // afs
    0x6B414653,  // afs, as in kafs
    0x19830326,  // beegfs
    0x00C36400,  // ceph
    0xFF534D42,  // cifs
    0x73757245,  // coda
    0x013111A8,  // ibrix
    0x47504653,  // gpfs
    0x0BD00BD0,  // lustre
    0x0000564C,  // ncp
    0x00006969,  // nfs
    0x0000517B,  // smb
    0xFE534D42,  // smb2
    0xAAD7AAEA,  // panfs
};

/// Of a FUSE filesystem: `fuseblk` is on a block device, whose number it shows; all others have one with a major number
/// of 0.
bool is_on_block_device(int fd) noexcept {
    struct stat found {};
    return ::fstat(fd, &found) == 0 && major(found.st_dev) != 0;
}

}  // namespace

bool is_on_distant_filesystem(int fd) noexcept {
    struct statfs found {};
    if (::fstatfs(fd, &found) != 0) return false;
    // f_type is signed and as wide as a register, so that magic numbers with the highest bit set look different.
    const auto type = static_cast<std::uint32_t>(found.f_type);
    if (type == fuse) return !is_on_block_device(fd);
    return std::find(distant.begin(), distant.end(), type) != distant.end();
}

}  // namespace tensorfs
