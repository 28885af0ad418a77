#pragma once

#include <vector>

#include "core/base/text.hpp"
#include "core/formats/header.hpp"

namespace tensorfs::safetensors {

/// Rule 5: the header's JSON to entries, in the order of the file. Names, shapes and
/// metadata go into `header`. Offsets in an entry count from the header's end. Throws json::SyntaxError.
std::vector<HeaderEntry> read_entries(const json::Text& text, const HeaderOptions& options, Header& header);

}  // namespace tensorfs::safetensors
