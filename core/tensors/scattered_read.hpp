#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "core/tensors/shard.hpp"

namespace tensorfs {

/// A few bytes of a file.
struct SmallRange {
    std::uint64_t offset;
    std::uint32_t nbytes;
};

/// Reads many small ranges of a shard, such as the headers of an archive's members, and calls
/// visit(i, bytes) for the i-th of them, each once, in no order and from several threads at a time.
/// Ranges whose gap is less than a page are read in one piece, since the disk reads that page anyway;
/// the pieces are read in parallel, since a disk or server that is far away answers many as fast as one.
///
/// Throws Error where bytes cannot be read or the file ends before, and what `visit` throws.
/// REQUIRES: the ranges are in the order of their offsets.
void read_scattered(const Shard& shard, std::span<const SmallRange> ranges,
                    const std::function<void(std::size_t, std::string_view)>& visit);

}  // namespace tensorfs
