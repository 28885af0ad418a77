#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model.hpp"
#include "core/views/model_file.hpp"

namespace tensorfs {

/// What a safetensors file says of itself: each key once.
using TextMetadata = std::vector<std::pair<std::string, std::string>>;

/// What the key says that has the types and shapes of quantised tensors: see merged_file().
inline constexpr std::string_view quantised_key = "tensorfs.quantised";

/// The shards' metadata as one: of a key that several shards have, the first shard's value counts; numbers and
/// booleans become texts, and arrays are left out. First of all stands what the format cannot say of these tensors,
/// under `quantised_key`, if there is any. Throws Error.
TextMetadata text_metadata(const Model& model, std::span<const FileTensor> tensors);

/// Tensors as one safetensors file: a made header, then the tensors' bytes. Names are full names
/// (utf8_name() in views.hpp). A quantised type, which safetensors lacks, is there as U8 in its stored_shape(), and
/// the metadata's "tensorfs.quantised" says which tensors have which type and shape, as a JSON object.
///
/// Tensors stand in their order here where each then begins at a multiple of its element's size, as loaders that map
/// the file want it; else those with the largest elements come first, which is always so. Empty ones behind each other
/// stand in byte order of their names: a file that is made of this one is the same.
///
/// Nothing where the header would be larger than the format allows (max_header_size in safetensors.hpp).
std::optional<ModelFile> merged_file(std::vector<FileTensor> tensors, const TextMetadata& metadata);

/// The whole model as such a file. Throws Error.
std::optional<Content> merged_view(const Model& model, Floats floats = Floats::as_stored);

/// The size of that file's header in bytes, padding included, without making it. Throws Error.
std::uint64_t merged_header_size(const Model& model, Floats floats = Floats::as_stored);

}  // namespace tensorfs
