#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/formats/safetensors/safetensors.hpp"
#include "core/tensors/dtype.hpp"

namespace tensorfs {

/// A tensor as a safetensors header states it, before rules 6 to 9 of safetensors.hpp. Offsets count bytes from
/// the header's end.
struct HeaderEntry {
    std::size_t name_at = 0, name_size = 0;  // in Header::names, the prefix before it
    std::size_t dims_at = 0, rank = 0;       // in Header::dims
    std::uint64_t begin = 0, end = 0;
    Dtype dtype{};
};

/// Rule 5: the header's JSON to entries, in the order of the file. Names, each with `prefix` before it, shapes and
/// metadata go into `header`. Throws json::SyntaxError.
std::vector<HeaderEntry> read_entries(const json::Text& text, std::string_view prefix, Header& header);

}  // namespace tensorfs
