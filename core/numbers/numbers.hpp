#pragma once

// Elements as numbers to reckon with. A number is a double: floats are widened, quantised ones computed, integers
// beyond 2^53 rounded, and BOOL is 0 or 1. Of C64 it is the magnitude, which is NaN where a part is, unless the other
// is infinite.

#include <cstddef>
#include <cstdint>

#include "core/tensors/dtype.hpp"

namespace tensorfs {

/// The most elements that become numbers at a time: whole blocks of every type, and little enough for the
/// processor's first cache.
inline constexpr std::size_t number_batch = 2048;

/// Whether all numbers of a type are float32s, so that floats_of() can have them: those of up to 16 bits, quantised
/// ones and F32.
bool fits_float(Dtype dtype);

/// The numbers of `count` elements from `bytes` on, at any address. REQUIRES: whole blocks. Any thread may call these.
void numbers_of(Dtype dtype, const std::byte* bytes, std::size_t count, double* out);
/// REQUIRES besides: fits_float(dtype).
void floats_of(Dtype dtype, const std::byte* bytes, std::size_t count, float* out);

/// Bytes of so many elements. REQUIRES: whole blocks.
inline std::uint64_t nbytes_in_blocks(Dtype dtype, std::uint64_t elements) {
    return elements / block_of(dtype).elements * block_of(dtype).nbytes;
}

}  // namespace tensorfs
