#pragma once

#include <cstdint>
#include <vector>

#include "core/formats/gguf/window.hpp"
#include "core/formats/header.hpp"

namespace tensorfs::gguf {

/// Rules 6 to 8: so many tensors' infos to entries, in the order of the file. Names and shapes, and with
/// HeaderOptions::partial what is wrong with those that are left out, go into `header`. Throws Error.
std::vector<HeaderEntry> read_infos(Window& window, std::uint64_t count, std::uint64_t alignment,
                                    const HeaderOptions& options, Header& header);

}  // namespace tensorfs::gguf
