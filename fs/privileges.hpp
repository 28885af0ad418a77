#pragma once

namespace tensorfs {

/// Gives up what a mounted daemon does not need, in the calling thread and those that it starts
/// later: as root, every capability but the one to unmount (CAP_SYS_ADMIN), and for good the way to
/// new privileges. An ordinary user has no capabilities, and keeps the way to fusermount3, which
/// unmounts for it. What the system refuses to take away is logged.
void drop_privileges();

}  // namespace tensorfs
