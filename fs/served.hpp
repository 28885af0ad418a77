#pragma once

#include "fs/faults.hpp"
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

}  // namespace tensorfs
