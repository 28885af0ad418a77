#pragma once

namespace tensorfs {

// What the threads of a mounted daemon may do. As root they give up all capabilities but those named here, and for good
// any way to gain privileges. An ordinary user has no capabilities, and must be able to run fusermount3, which is
// setuid and unmounts for it. What the system refuses to take away is logged. A thread starts with the privileges of
// the one that starts it.

/// For threads that answer requests: keeps nothing.
void drop_privileges();

/// For the thread that waits: keeps CAP_SYS_ADMIN, to unmount; and CAP_DAC_READ_SEARCH without using it, for the thread
/// that reloads, which must read whatever could be read at the mount.
void drop_privileges_but_reading();

/// For a thread that reloads, or unmounts: uses CAP_DAC_READ_SEARCH, if the thread has it.
void use_reading_privilege();

}  // namespace tensorfs
