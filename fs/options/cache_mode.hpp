#pragma once

#include <cstdint>

namespace tensorfs {

/// Where the system is to keep what was read.
enum class Cache : std::uint8_t {
    keep,   // in the shard's pages and in the mount's: who reads the shard itself finds it cached, too
    once,   // in the mount's pages only
    direct  // nowhere: each read is answered anew, and the shard's pages are dropped behind it
};

}  // namespace tensorfs
