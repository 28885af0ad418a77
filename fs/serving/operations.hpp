#pragma once

#include "fs/serving/fuse.hpp"

namespace tensorfs {

/// The low-level FUSE callbacks. A session that uses them has a Served as its user data, which must outlive it. Any
/// number of requests may be under way at once.
///
/// What the kernel is told stays true until a reload, which makes it forget (model_switch.hpp), so it may cache all of
/// it for ever: entries, also that there are none; attributes; listings; pages. For the same reason OPEN and OPENDIR
/// are answered with ENOSYS once, after which the kernel spares these round trips. (With cache=direct there is an OPEN,
/// since its reply is what forbids caching pages; with idle= there are both, to count what is open.)
const fuse_lowlevel_ops& operations();

}  // namespace tensorfs
