#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/tensors/read_at.hpp"

namespace tensorfs {

/// Bytes between runs that are read with them: to read as many again costs what a further read costs.
inline constexpr std::uint64_t gather_gap = 2048;

/// One dimension of a box.
struct BoxDim {
    std::uint64_t size;    // indices; at least 1
    std::uint64_t stride;  // bytes in the file from one index to the next; 0 if all are the same
};

/// A part of a strided tensor that is one piece of the row-major result: indices of each dimension, of runs
/// of `run` bytes that lie together.
struct Box {
    std::span<const BoxDim> dims;  // outermost first, at most 64
    std::uint64_t run;             // bytes, at least 1
    std::uint64_t offset;          // of the first run, from the start of the file
};

/// Fills `out` with a box, row-major. Takes 256 KiB unless the runs are long; false where there is no memory,
/// or the reader says so.
bool copy_box(const Box& box, std::byte* out, const ReadAt& reader) noexcept;

}  // namespace tensorfs
