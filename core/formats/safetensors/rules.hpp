#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/header.hpp"

namespace tensorfs::safetensors {

/// The file whose header is checked.
struct HeaderFile {
    const std::string& path;   // for messages
    std::uint64_t size;        // in bytes
    std::uint64_t data_begin;  // where the header ends
};

/// Rules 6 to 9 of safetensors.hpp over the entries of one header, which was read into `header` with `options`; makes
/// the header's tensors of them. Throws Error. With `options.partial`, what breaks rule 7 or lies beyond the end of the
/// file is left out, and bytes behind the data are no reason to refuse the rest; the header's problems say so.
void check_entries(Header& header, std::vector<HeaderEntry> entries, const HeaderFile& file,
                   const HeaderOptions& options);

}  // namespace tensorfs::safetensors
