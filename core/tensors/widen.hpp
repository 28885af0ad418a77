#pragma once

// Floats narrower than 32 bits, and their values as float32. Each of these values is a float32, so
// nothing is rounded; infinities stay infinities, NaNs stay NaNs, and zeros keep their signs.
//
//   type         sign exponent mantissa bias  special values                                 source
//   BF16          1      8        7     127   as float32, whose upper half it is             -
//   F16           1      5       10      15   infinities, NaNs                               IEEE 754 binary16
//   F8_E5M2       1      5        2      15   infinities, NaNs                               OCP 8-bit FP, 1.0
//   F8_E4M3       1      4        3       7   NaN 0x7F and 0xFF, no infinity                 OCP 8-bit FP, 1.0
//   F8_E4M3FNUZ   1      4        3       8   NaN 0x80, no infinity, no negative zero        arXiv 2206.02915
//   F8_E5M2FNUZ   1      5        2      16   NaN 0x80, no infinity, no negative zero        arXiv 2206.02915
//   F8_E8M0       -      8        -     127   NaN 0xFF; a power of two, so no zero           OCP MX, 1.0
//   F6_E2M3       1      2        3       1   none                                           OCP MX, 1.0
//   F6_E3M2       1      3        2       3   none                                           OCP MX, 1.0
//   F4            1      2        1       1   none (E2M1)                                    OCP MX, 1.0
//
// A NaN of BF16, F16 and F8_E5M2 keeps its sign and its mantissa, as the upper bits of the float32's;
// the others become a quiet NaN with their sign bit. Elements narrower than a byte are packed from the
// lowest bit up: of F4 the first of two is the lower half of the byte; of F6, four are a little-endian
// number of 24 bits of which the first has the lowest six. (Safetensors says only how many bits they
// take; PyTorch packs its float4_e2m1fn_x2 so.)
//
// The quantised types' values are computed from codes and scales: see dequantise.hpp.

#include <cstddef>

#include "core/tensors/dtype.hpp"

namespace tensorfs {

/// Whether a type is a float narrower than 32 bits, or quantised.
bool can_widen(Dtype dtype);

/// Widens `elements` from `packed` into `out`. REQUIRES: can_widen(dtype), whole blocks. Any thread
/// may call it.
void widen(Dtype dtype, const std::byte* packed, std::size_t elements, float* out);

}  // namespace tensorfs
