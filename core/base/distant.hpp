#pragma once

#include <sys/types.h>

#include <string>

namespace tensorfs {

/// Whether an open file lies on a filesystem of another program, mounted through FUSE, but for disks (`fuseblk`).
/// There, to read in order can be cheap and to jump dear: a web server's file is then asked for anew. The kernel's own
/// clients of networks (NFS, SMB, Ceph) send each request by itself, in whatever order, and are like slow disks. False
/// where the system does not tell.
[[nodiscard]] bool is_on_distant_filesystem(int fd) noexcept;

/// The type of the filesystem with this device number, such as "ext4" or "fuse.rclone"; "" where the system does not
/// tell.
[[nodiscard]] std::string filesystem_type(dev_t device);

}  // namespace tensorfs
