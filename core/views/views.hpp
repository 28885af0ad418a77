#pragma once

#include <string>
#include <string_view>

#include "core/model/model.hpp"
#include "core/model/tree.hpp"
#include "core/tensors/content.hpp"

namespace tensorfs {

// A view is a function from what a model holds to the content of a file: from a tensor, or from the
// whole model. They know nothing of who reads the content.

/// Where a tensor's elements lie.
Slice slice_of(const Tensor& tensor);

/// A tensor's full name for files of the whole model, whose names must be UTF-8. A pipeline's folder can
/// have a name that is not: then its bytes that are no characters, and its '%', are written as %XX. The
/// result is a view of the tensor's name, or of `storage`.
std::string_view utf8_name(const Tensor& tensor, std::string& storage);

/// A tensor's elements as they lie in the shard: one slice.
Content raw_view(const Tensor& tensor);

/// A tensor as a NumPy array file (npy.hpp). Types that NumPy lacks are there bit for bit: BF16 as
/// "<u2", 8-bit floats as "|u1", F4 and F6 as the packed bytes, "|u1" in one dimension.
Content npy_view(const Tensor& tensor);

/// The same, with the elements of floats narrower than 32 bits widened to "<f4" (widen.hpp).
Content f32_view(const Tensor& tensor);

/// The header that these begin with, for some of the tensor: an array of that shape.
std::string npy_view_header(const Tensor& tensor, Shape shape);
std::string f32_view_header(const Tensor& tensor, Shape shape);

/// The sizes of the views in bytes, without making them.
std::uint64_t npy_view_size(const Tensor& tensor);
std::uint64_t f32_view_size(const Tensor& tensor);

/// Every tensor, depth first through the tree: a JSON array of objects with `name`, `path` (in `tree`),
/// `dtype`, `shape`, `shard` (absolute), `offset` and `nbytes`, one on a line.
std::string tensors_json(const Model& model, const Tree& tree);

/// The shards' `__metadata__`: a JSON object from each shard's name to an object of strings.
std::string metadata_json(const Model& model);

/// What was left out because it is bad: a JSON array of objects with `kind`, `path`, `tensor` (left
/// out where the problem is not about one) and `text`.
std::string problems_json(const Model& model);

/// A shape as "[2,3]", and "[]" for a scalar.
std::string to_string(Shape shape);

/// `text` as a JSON string, in quotes and in ASCII alone, so that it is safe on a terminal, too.
/// Bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

/// One line of tensors_json() without its end; `path` is left out where it is empty.
std::string tensor_json(const Model& model, const Tensor& tensor, const std::string& path);

}  // namespace tensorfs
