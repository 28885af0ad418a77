#pragma once

#include <cstddef>
#include <string_view>

#include "core/formats/metadata.hpp"

namespace tensorfs {

/// A file of a model that was read, as Format::check_parts sees it.
struct Part {
    std::string_view name;  // relative to the folder that they are in
    std::string_view path;  // for messages
    const Metadata& metadata;
    std::size_t tensors;  // how many it has
};

}  // namespace tensorfs
