#pragma once

#include <string>

namespace tensorfs {

/// `path` as the kernel's table of mounts has it, without symbolic links; a dead mount at its end
/// cannot be followed.
std::string real_path(const std::string& path);

/// Checks the mount point and clears a mount of ours whose daemon was killed. Throws Failure
/// (mountpoint).
void check_mountpoint(const std::string& path);

/// Whether a mount point is a FUSE device that whoever started this has opened and mounted, "/dev/fd/N", as
/// libfuse takes it: for containers without the right to mount, and for mount.fuse3's drop_privileges.
bool is_device(const std::string& mountpoint);

/// Lets the kernel read ahead in larger steps than its 128 KiB, which only root can have: what it maps
/// is then sent in fewer requests. Where it cannot be had, reading is slower, and that is all.
/// `device` is the mount's, as "MAJOR:MINOR"; the filesystem itself is not asked.
void raise_read_ahead(const std::string& device);

}  // namespace tensorfs
