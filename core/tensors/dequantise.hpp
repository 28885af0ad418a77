#pragma once

// GGUF's quantised types, and their values as float32.
//
// A block of 32 to 256 elements is packed into some bytes: codes of 1 to 8 bits, and scales by which what they stand
// for is multiplied. What each type's blocks hold is said in core/tensors/quantised; the rules are ggml's. The values
// are those of its dequantisers bit by bit, with one exception: where one is NaN, the other is a NaN, too. Q8_1, for
// which it has none, is computed as Q8_0 is.

#include <cstddef>

#include "core/tensors/dtype.hpp"
#include "core/tensors/processor.hpp"

namespace tensorfs {

/// Computes `elements` values of the blocks at `blocks` into `out`. REQUIRES: is_quantised(dtype), whole blocks, and
/// that the two do not overlap. Any bytes are good, at any address. Any thread may call it.
void dequantise(Dtype dtype, const std::byte* blocks, std::size_t elements, float* out);

/// The same by code for one processor, for those who compare them. REQUIRES besides: runs_here(processor).
void dequantise(Processor processor, Dtype dtype, const std::byte* blocks, std::size_t elements, float* out);

}  // namespace tensorfs
