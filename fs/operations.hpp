#pragma once

#include "fs/faults.hpp"
#include "fs/fuse.hpp"
#include "fs/options.hpp"
#include "fs/paging.hpp"
#include "fs/stat.hpp"
#include "fs/stats.hpp"
#include "fs/volume.hpp"

namespace tensorfs {

/// What the callbacks answer from: the session's user data.
struct Served {
    Served(const Volume& what, const MountOptions& how)
        : volume(what),
          owner(how.owner),
          cache(how.cache),
          is_baseline(how.is_baseline),
          faults(what.model().shards()),
          paging(what.model().shards(), how.cache, !how.is_baseline) {}

    const Volume& volume;
    Owner owner;
    Cache cache;
    bool is_baseline;
    Faults faults;
    Paging paging;
    Stats stats;
};

/// The low-level FUSE callbacks. A session that uses them has a Served as its user data, which
/// outlives it. Any number of requests may be under way at once.
///
/// Nothing that the kernel is told ever changes while mounted, so it is told to keep all of it:
/// entries (also that there are none), attributes, listings and pages. That is also why there is no
/// OPEN and OPENDIR: answering ENOSYS once spares these round trips for good. (With cache=direct
/// there is an OPEN, since it is what says that pages are not to be kept.)
const fuse_lowlevel_ops& operations();

}  // namespace tensorfs
