#pragma once

#include <cstdint>
#include <optional>

namespace tensorfs {

/// This process's resident memory, in bytes.
struct Memory {
    std::uint64_t own;     // private to it
    std::uint64_t mapped;  // of files, such as the shards; in the page cache, so shared with all
    std::uint64_t peak;    // the highest that both together have been
};

/// From proc(5); nothing if the kernel does not say.
std::optional<Memory> memory_in_use();

}  // namespace tensorfs
