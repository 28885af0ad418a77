#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "core/base/descriptor.hpp"
#include "core/tensors/shard.hpp"
#include "tests/fuzz/require.hpp"

namespace tensorfs::fuzz {

/// A file of these bytes, in memory, opened as a shard.
inline Shard memory_file(const std::uint8_t* data, std::size_t size) {
    const Descriptor file(::memfd_create("fuzz", MFD_CLOEXEC));
    require(static_cast<bool>(file), "a file can be made");
    require(::write(file.get(), data, size) == static_cast<ssize_t>(size), "and written");
    return Shard("/proc/self/fd/" + std::to_string(file.get()));
}

}  // namespace tensorfs::fuzz
