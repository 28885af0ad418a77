#include "core/formats/gguf/gguf.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/formats/gguf/infos.hpp"
#include "core/formats/gguf/keys.hpp"
#include "core/formats/gguf/llama_cpp.hpp"
#include "core/formats/gguf/places.hpp"
#include "core/formats/gguf/window.hpp"

namespace tensorfs::gguf {

bool is_content(std::string_view beginning, const Shard& /*shard*/) { return beginning.starts_with("GGUF"); }

Header read_header(const Shard& shard, const HeaderOptions& options) {
    Window window(shard);
    const Counts counts = read_counts(window, shard);
    Keys keys = read_keys(window, counts.keys, options.keep);

    Header header;
    std::vector<HeaderEntry> entries = read_infos(window, counts.tensors, keys.alignment, options, header);
    if (std::string why = why_llama_cpp_would_not(header, entries, keys); !why.empty())
        header.notes.push_back(std::move(why));

    const std::uint64_t padded = (window.position() + keys.alignment - 1) & ~(keys.alignment - 1);
    place_entries(header, std::move(entries), {padded, shard.size(), shard.path()}, options);
    header.metadata = std::move(keys.metadata);
    return header;
}

Metadata read_metadata(const Shard& shard, Keep wanted) {
    Window window(shard);
    const Counts counts = read_counts(window, shard);
    return std::move(read_keys(window, counts.keys, wanted).metadata);
}

}  // namespace tensorfs::gguf
