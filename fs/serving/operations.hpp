#pragma once

#include "fs/serving/fuse.hpp"

namespace tensorfs {

/// The low-level FUSE callbacks. A session that uses them has a Served as its user data, which
/// outlives it. Any number of requests may be under way at once.
///
/// Nothing that the kernel is told ever changes while mounted, so it is told to keep all of it:
/// entries (also that there are none), attributes, listings and pages. That is also why there is no
/// OPEN and OPENDIR: answering ENOSYS once spares these round trips for good. (With cache=direct
/// there is an OPEN, since it is what says that pages are not to be kept.)
const fuse_lowlevel_ops& operations();

}  // namespace tensorfs
