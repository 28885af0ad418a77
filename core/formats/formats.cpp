#include "core/formats/formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/formats/safetensors/safetensors.hpp"

namespace tensorfs {
namespace {

constexpr std::array table{
    Format{"safetensors", file_names::safetensors, nullptr, safetensors::read_header, safetensors::read_metadata},
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
    return fallback;
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
