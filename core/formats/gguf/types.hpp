#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/tensors/dtype.hpp"

namespace tensorfs::gguf {

/// The type that a file means by an id; nothing where the id is of none, or of one that was removed.
std::optional<Dtype> dtype_of_id(std::uint64_t id);

/// The name of the type that had this id and was removed; "" where none had it.
std::string_view removed_type(std::uint64_t id);

}  // namespace tensorfs::gguf
