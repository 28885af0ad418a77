#pragma once

// Floats of one type as floats of another, rounded to the nearest and of two that are equally near to the even one.
//
//  - From: F64, F32, all that can_widen() (widen.hpp), quantised types through their values. To: F32, F16 and BF16.
//  - It is rounded once: from F64, too, which to go by way of F32 would round twice.
//  - A number too large for the type becomes an infinity; one too small, a subnormal number or a zero with its sign.
//  - Infinities stay what they are, and so do NaNs: quiet ones, with their sign and as much as fits of their mantissa.
//
// Rules: IEEE 754, roundTiesToEven; of BF16, which is no format of that standard, by analogy.

#include <cstddef>
#include <cstdint>

#include "core/tensors/dtype.hpp"

namespace tensorfs {

/// Whether elements of a type can become floats of another.
bool can_convert(Dtype from);
/// Whether it is one that they can become.
bool can_convert_to(Dtype to);

/// Converts `elements` from `packed` into `out`, and returns how many numbers became infinities. REQUIRES:
/// can_convert(from), can_convert_to(to), whole blocks, that `out` is aligned as its elements are, and that the two do
/// not overlap. Any thread may call it.
std::uint64_t convert(Dtype from, const std::byte* packed, std::size_t elements, Dtype to, std::byte* out);

}  // namespace tensorfs
