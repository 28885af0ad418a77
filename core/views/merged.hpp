#pragma once

#include <cstdint>
#include <optional>

#include "core/model/model.hpp"
#include "core/tensors/content.hpp"

namespace tensorfs {

/// How floats stand in a file of the whole model.
enum class Floats : std::uint8_t {
    as_stored,  // in their own types
    widened     // all that can_widen() as F32: loaders that know few types can take them
};

/// The whole model as one safetensors file: a made header, then the tensors' bytes. Names are full names
/// (utf8_name() in views.hpp). A quantised type, which safetensors lacks, is there as U8 in its stored_shape(), and
/// the metadata's "tensorfs.quantised" says which tensors have which type and shape, as a JSON object.
///
/// Tensors stand in data order where each then begins at a multiple of its element's size, as loaders that map the
/// file want it; else those with the largest elements come first, which is always so.
///
/// The shards' metadata become one: of a key that several shards have, the first shard's value counts; numbers and
/// booleans become texts, and arrays are left out. Nothing where the header would be larger than the format
/// allows (max_header_size in safetensors.hpp). Throws Error.
std::optional<Content> merged_view(const Model& model, Floats floats = Floats::as_stored);

/// The size of that file's header in bytes, padding included, without making it. Throws Error.
std::uint64_t merged_header_size(const Model& model, Floats floats = Floats::as_stored);

}  // namespace tensorfs
