#pragma once

#include <vector>

#include "core/base/text.hpp"
#include "core/formats/header.hpp"

namespace tensorfs::safetensors {

/// Rule 5: the header's JSON to entries, in the order of the file. Names, shapes and
/// metadata go into `header`. Offsets in an entry count from the header's end. With `options.partial`, a tensor of a
/// dtype that is not the format's is marked as left out, and a problem, whose path is empty, says so. Throws
/// json::SyntaxError.
std::vector<HeaderEntry> read_entries(const json::Text& text, const HeaderOptions& options, Header& header);

}  // namespace tensorfs::safetensors
