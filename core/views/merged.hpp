#pragma once

#include <optional>

#include "core/model/model.hpp"
#include "core/tensors/content.hpp"

namespace tensorfs {

/// The whole model as one safetensors file: a made header, then the tensors' bytes in data order. Names
/// are full names (utf8_name() in views.hpp). The shards' metadata become one: of a key that several
/// shards have, the first shard's value counts. Nothing where the header would be larger than the format
/// allows (max_header_size in safetensors.hpp). Throws Error.
std::optional<Content> merged_view(const Model& model);

/// The size of that file's header in bytes, padding included, without making it.
std::uint64_t merged_header_size(const Model& model);

}  // namespace tensorfs
