#include "core/formats/formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/gguf/gguf.hpp"
#include "core/formats/numpy/numpy.hpp"
#include "core/formats/pytorch/pytorch.hpp"
#include "core/formats/safetensors/safetensors.hpp"

namespace tensorfs {
namespace {

/// What NumPy writes: one array, or an archive of arrays.
bool is_numpy(std::string_view beginning, const Shard& shard) {
    return numpy::is_array_file(beginning, shard) || numpy::is_archive(beginning, shard);
}

Header read_numpy(const Shard& shard, const HeaderOptions& options) {
    constexpr std::string_view zip = "PK";
    std::string beginning(std::min<std::uint64_t>(shard.size(), zip.size()), '\0');
    shard.read(0, beginning);
    return beginning == zip ? numpy::read_archive_file(shard, options) : numpy::read_array_file(shard, options);
}

Metadata no_metadata(const Shard& /*shard*/, Keep /*wanted*/) { return {}; }

// In the order in which a folder that holds several is taken for one of them.
constexpr std::array table{
    Format{"safetensors", file_names::safetensors, nullptr, safetensors::read_header, safetensors::read_metadata},
    Format{"gguf", file_names::gguf, gguf::is_content, gguf::read_header, gguf::read_metadata, gguf::check_parts},
    // Before NumPy, whose archives are zips of any other content.
    Format{"pytorch", file_names::pytorch, pytorch::is_content, pytorch::read_header, pytorch::read_metadata, nullptr,
           true},
    Format{"numpy", file_names::numpy, is_numpy, read_numpy, no_metadata},
};

bool has_suffix(const Format& format, std::string_view name) {
    return std::any_of(format.files.suffixes.begin(), format.files.suffixes.end(),
                       [&](std::string_view suffix) { return name.ends_with(suffix); });
}

}  // namespace

std::span<const Format> formats() { return table; }

const Format* format_named(std::string_view file_name) {
    const auto* const found =
        std::find_if(table.begin(), table.end(), [&](const Format& format) { return has_suffix(format, file_name); });
    return found == table.end() ? nullptr : found;
}

const Format& format_of(const Shard& shard) {
    const Format& fallback = table.front();
    if (has_suffix(fallback, shard.path())) return fallback;
    constexpr std::uint64_t most = 64;
    std::string beginning(std::min(shard.size(), most), '\0');
    shard.read(0, beginning);
    for (const Format& format : table) {
        if (format.is_content != nullptr && format.is_content(beginning, shard)) return format;
    }
    const Format* const named = format_named(shard.path());
    return named == nullptr ? fallback : *named;
}

std::string suffixes_of(std::span<const Format> formats) {
    std::vector<std::string_view> all;
    for (const Format& format : formats) {
        all.insert(all.end(), format.files.suffixes.begin(), format.files.suffixes.end());
        if (!format.files.shared_suffix.empty()) all.push_back(format.files.shared_suffix);
    }
    return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace tensorfs
