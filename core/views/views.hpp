#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensors/content.hpp"
#include "core/tensors/tensor.hpp"

namespace tensorfs {

// A view is a function from what a model holds to the content of a file: from a tensor (here), or from the
// whole model (merged.hpp, pytorch.hpp, listings.hpp). They know nothing of who reads the content. Which there
// are, and under which names, stands in view_table.hpp.

/// A tensor's shape in files that have no type of its own: that of its bytes. The last dimension is a row's
/// bytes where elements share bytes and rows are whole blocks; where they are not, there is only one dimension.
/// Of other types the shape is their own.
std::vector<std::uint64_t> stored_shape(const Tensor& tensor);

/// A tensor's full name for files of the whole model, whose names must be UTF-8. A pipeline's folder can
/// have a name that is not: then its bytes that are no characters, and its '%', are written as %XX. The
/// result is a view of the tensor's name, or of `storage`.
std::string_view utf8_name(const Tensor& tensor, std::string& storage);

/// A tensor's elements, row-major and little-endian: one slice, as they lie in the shard, unless they are strided.
Content raw_view(const Tensor& tensor);

/// A tensor as a NumPy array file (npy.hpp). Types that NumPy lacks are there bit for bit: BF16 as
/// "<u2", 8-bit floats as "|u1", and F4, F6 and quantised types as their bytes, "|u1" of the stored_shape().
Content npy_view(const Tensor& tensor);

/// The same, with the elements of floats narrower than 32 bits widened, and those of quantised types computed, to
/// "<f4" (widen.hpp).
Content f32_view(const Tensor& tensor);

/// The header that these begin with, for some of the tensor: an array of that shape.
std::string npy_view_header(const Tensor& tensor, Shape shape);
std::string f32_view_header(const Tensor& tensor, Shape shape);
/// NumPy's type of elements in npy_view(): their own, or that of their bits.
std::string_view npy_type(Dtype dtype);

/// The sizes of the views in bytes, without making them.
std::uint64_t raw_view_size(const Tensor& tensor);
std::uint64_t npy_view_size(const Tensor& tensor);
std::uint64_t f32_view_size(const Tensor& tensor);

}  // namespace tensorfs
