#pragma once

namespace tensorfs {

// What a mounted daemon may do, thread by thread. As root it gives up every capability but those named
// here, and for good the way to new privileges. An ordinary user has no capabilities, and keeps the way to
// fusermount3, which unmounts for it. What the system refuses to take away is logged. Threads start with
// what the one that starts them has.

/// For threads that answer requests: nothing is left.
void drop_privileges();

/// For the thread that waits: it can unmount (CAP_SYS_ADMIN), and let a thread read what it is about to load
/// again, as at the mount, whoever's it is (CAP_DAC_READ_SEARCH). It cannot itself, unless it asks by
/// use_reading_privilege().
void drop_privileges_but_reading();

/// For a thread that loads a model again, or unmounts: takes that up, if it is there.
void use_reading_privilege();

}  // namespace tensorfs
