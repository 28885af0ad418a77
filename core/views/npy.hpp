#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/tensors/tensor.hpp"

namespace tensorfs {

/// The header of a NumPy array file (.npy) with rows in C order, by NumPy's "NPY format": magic,
/// version 1.0 (2.0 where the shape's text does not fit that), length, a Python dict as text, spaces
/// and a newline. The data of an array of a page or more follows at a multiple of 4096 bytes, so that a mapping of
/// it begins with a page; that of a smaller one at a multiple of the 64 that the format asks for, since some readers
/// have room for a short header only.
///
/// Every rank can be written; NumPy reads up to 64 dimensions (32 before NumPy 2.0), and by default
/// headers of up to 10,000 characters, which is more than those take.
///
/// `type` is NumPy's array-protocol type, such as "<f4".
std::string npy_header(std::string_view type, Shape shape);

/// How many bytes npy_header() has.
std::uint64_t npy_header_size(std::string_view type, Shape shape);

}  // namespace tensorfs
