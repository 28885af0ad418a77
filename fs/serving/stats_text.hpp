#pragma once

#include <string>

#include "fs/serving/served.hpp"

namespace tensorfs {

/// The value of user.tensorfs.stats: one line of JSON, described in the manual. It holds all that stats.hpp counts, the
/// tensors most bytes were read of, the shards that gave errors, memory, and the models held. Any thread may ask.
/// Throws std::bad_alloc.
std::string stats_text(const Served& served);

}  // namespace tensorfs
