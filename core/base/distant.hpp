#pragma once

namespace tensorfs {

/// Whether an open file lies on a filesystem that asks somebody else for its bytes, over a network or in another
/// process: NFS, SMB, 9p, Ceph and their like, and whatever is mounted through FUSE but for disks (`fuseblk`). There,
/// to read in order can be cheap and to jump dear: a web server's file is then opened anew. False where the system does
/// not tell.
[[nodiscard]] bool is_on_distant_filesystem(int fd) noexcept;

}  // namespace tensorfs
