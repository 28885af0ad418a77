#include "core/base/distant.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <cstdint>
#include <fstream>
#include <sstream>

namespace tensorfs {
namespace {

constexpr std::uint32_t fuse = 0x65735546;  // linux/magic.h

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
    return static_cast<std::uint32_t>(found.f_type) == fuse && !is_on_block_device(fd);
}

std::string filesystem_type(dev_t device) {
    std::ifstream mounts("/proc/self/mountinfo");
    const std::string wanted = std::to_string(major(device)) + ':' + std::to_string(minor(device));
    for (std::string line; std::getline(mounts, line);) {
        // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue (proc_pid_mountinfo(5))
        std::istringstream fields(line);
        std::string id;
        std::string parent;
        std::string number;
        fields >> id >> parent >> number;
        const std::size_t dash = line.find(" - ");
        if (number != wanted || dash == std::string::npos) continue;
        const std::size_t begin = dash + 3;
        return line.substr(begin, line.find(' ', begin) - begin);
    }
    return {};
}

}  // namespace tensorfs
