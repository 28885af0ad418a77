#include "fs/daemon/fuse_device.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"
#include "fs/terminal/failure.hpp"

namespace tensorfs {

std::string mount_advice(const MountOptions& options) {
    if (::geteuid() == 0) return {};
    for (const std::string& option : options.fuse) {
        if (option == "allow_other" || option == "allow_root") {
            return fmt::format(" ({} needs the line `user_allow_other` in /etc/fuse.conf)", option);
        }
    }
    return " (fusermount3, of the package fuse3, mounts for ordinary users, on folders that they may write to)";
}

void check_fuse() {
    const Descriptor device(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
    if (device) return;
    const int error = errno;
    std::string_view hint;
    if (error == ENOENT || error == ENODEV || error == ENXIO) {
        hint = " (load the kernel module with `modprobe fuse`; give a container --device /dev/fuse)";
    } else if (error == EACCES || error == EPERM) {
        hint =
            " (this user, or this container, may not use it; give a container --device /dev/fuse --cap-add SYS_ADMIN)";
    }
    throw Failure(ExitCode::no_fuse, fmt::format("cannot open /dev/fuse: {}{}", system_message(error), hint));
}

}  // namespace tensorfs
