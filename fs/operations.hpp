#pragma once

#include "fs/faults.hpp"
#include "fs/fuse.hpp"
#include "fs/stat.hpp"
#include "fs/stats.hpp"
#include "fs/volume.hpp"

namespace tensorfs {

/// What the callbacks answer from: the session's user data.
struct Served {
    explicit Served(const Volume& what, const Owner& whose)
        : volume(what), owner(whose), faults(what.model().shards()) {}

    const Volume& volume;
    Owner owner;
    Faults faults;
    Stats stats;
};

/// The low-level FUSE callbacks. A session that uses them has a Served as its user data, which
/// outlives it. Any number of requests may be under way at once.
///
/// Nothing that the kernel is told ever changes while mounted, so it is told to keep all of it:
/// entries (also that there are none), attributes, listings and pages. That is also why there is no
/// OPEN and OPENDIR: answering ENOSYS once spares these round trips for good.
const fuse_lowlevel_ops& operations();

}  // namespace tensorfs
