#pragma once

// The header of a NumPy array file (.npy), by NumPy's "NPY format" (NEP 1) and what is in use. Breaking a
// rule refuses the array (InvalidArrayHeader, unless another kind stands there).
//
//  1. A file begins with the byte 0x93 and "NUMPY", a version of 1.0, 2.0 or 3.0, and the length of the
//     text that follows: 2 bytes in version 1, 4 later. It is at most 65,535, and in the file.
//  2. The text is a literal of Python: a dict with exactly the keys 'descr', 'fortran_order' and 'shape',
//     once each and in any order, with white space anywhere. Nothing is evaluated: no sum, no call.
//  3. 'shape' is a tuple of at most 64 whole numbers from 0 to 2^63-1, which may end in L as Python 2 has it.
//  4. 'descr' is a type as NumPy spells them: a byte order that may be left out, a letter, a size. What is no
//     type is refused; a type that has no name in safetensors can only be left out.
//  5. The product of the shape, from the left, and that times the element's size    ValidationOverflow
//     fit 64 bits.
//  6. The elements are there; what stands behind them does not matter. They may      MetadataIncompleteBuffer
//     begin anywhere: writers differ in how they align them.
//
//   descr            dtype           descr                        dtype
//   |b1              BOOL            <V2 |V2                      BF16, as ml_dtypes and MLX write it
//   |i1 <i2 <i4 <i8  I8 to I64       <V1 |V1                      U8: some 8-bit float of ml_dtypes, which is lost
//   |u1 <u2 <u4 <u8  U8 to U64       <f1                          F8_E5M2, of an older ml_dtypes
//   <f2 <f4 <f8      F16, F32, F64   <c8                          C64
//
// The byte order of one-byte elements, and one that is left out or "=", does not matter.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensors/dtype.hpp"

namespace tensorfs::numpy {

/// What an array begins with.
inline constexpr std::string_view magic = "\x93NUMPY";

/// What an array's header says.
struct ArrayHeader {
    std::optional<Dtype> dtype;  // nothing where the array cannot be shown
    std::string obstacle;        // why not, to be read after "left out: "
    bool fortran_order = false;  // whether the first dimension varies fastest, not the last
    std::vector<std::uint64_t> shape;
    std::uint64_t data = 0;    // bytes from the start of the array's file to its first element
    std::uint64_t nbytes = 0;  // of the elements; 0 where their size is not known, as of objects

    /// Whether the elements lie row-major: in C order, or with no more than one dimension that is not 1,
    /// or none.
    [[nodiscard]] bool is_row_major() const;
};

/// How many bytes of a file are needed to parse its header: 0 where `beginning`, its first bytes, are no
/// array's, or too few to tell. REQUIRES: beginning has at least the file's first 12 bytes, or all.
std::uint64_t array_header_size(std::string_view beginning);

/// Parses the header of an array's file of `size` bytes that begins so. Throws Error by the rules above;
/// its problem names `path` and, as the tensor, `name`. Any thread may call it.
/// REQUIRES: beginning has at least min(array_header_size(), size) bytes.
ArrayHeader parse_array_header(std::string_view beginning, std::uint64_t size, const std::string& path,
                               std::string_view name);

}  // namespace tensorfs::numpy
