#pragma once

#include <string>

namespace tensorfs {

/// `path` as the kernel lists mounts, without symbolic links; a dead mount at its end is not followed.
std::string real_path(const std::string& path);

/// Checks that something can be mounted there, and clears a mount of ours whose daemon was killed. Throws Failure
/// (mountpoint).
void check_mountpoint(const std::string& path);

/// Whether a mount point is "/dev/fd/N", a FUSE device that whoever started this has opened and mounted, as libfuse
/// takes it: for containers without the right to mount, and for mount.fuse3's drop_privileges.
bool is_device(const std::string& mountpoint);

}  // namespace tensorfs
