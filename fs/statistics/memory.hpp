#pragma once

#include <cstdint>
#include <optional>

namespace tensorfs {

/// What this process takes of the system's memory, in bytes.
struct Memory {
    std::uint64_t own;     // its own: nobody else can have it
    std::uint64_t mapped;  // of files, such as the shards: in the page cache for all
    std::uint64_t peak;    // the most of both that there was at once
};

/// As the kernel tells it (proc(5)); nothing where it does not.
std::optional<Memory> memory_in_use();

}  // namespace tensorfs
