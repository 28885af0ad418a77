#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/tensors/dtype.hpp"

namespace tensorfs::numpy {

/// An element type of NumPy.
struct ArrayType {
    std::optional<Dtype> dtype;  // nothing where safetensors has none
    std::string obstacle;        // what it is instead, such as "text"
    std::uint64_t nbytes = 0;    // of an element; 0 where it is not known
};

/// What a 'descr' means, such as "<f4"; nothing where it is no type of NumPy's (rule 4 of array_header.hpp).
std::optional<ArrayType> parse_array_type(std::string_view descr);

}  // namespace tensorfs::numpy
