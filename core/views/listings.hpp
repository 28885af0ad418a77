#pragma once

#include <span>
#include <string>

#include "core/model/model.hpp"
#include "core/model/tree.hpp"
#include "core/views/model_file.hpp"

namespace tensorfs {

// What a model holds, as JSON in ASCII, so that it is safe on a terminal, too. Bytes that are not UTF-8 become
// U+FFFD.

/// Every tensor, depth first through the tree: a JSON array of objects with `name`, `path` (in `tree`),
/// `dtype`, `shape`, `shard` (absolute), `offset` and `nbytes`, one on a line. A strided tensor has no `offset`.
std::string tensors_json(const Model& model, const Tree& tree);

/// One line of tensors_json() without its end; `path` is left out where it is empty.
std::string tensor_json(const Model& model, const Tensor& tensor, const std::string& path);

/// The shards' metadata, all of it: a JSON object from each shard's name to an object of its keys. Reads again what
/// was too large to be kept. Throws Error.
std::string metadata_json(const Model& model);

/// What was left out because it is bad: a JSON array of objects with `kind`, `path`, `tensor` (left
/// out where the problem is not about one) and `text`.
std::string problems_json(const Model& model);

/// The tensors whose elements are of quantised types, which few formats have: a JSON object from each full name
/// (utf8_name()) to an object with `dtype` and `shape`; "" where there are none.
std::string quantised_types(std::span<const FileTensor> tensors);

/// A shape as "[2,3]", and "[]" for a scalar.
std::string to_string(Shape shape);

}  // namespace tensorfs
