#include "core/formats/safetensors/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/formats/safetensors/entries.hpp"
#include "core/formats/safetensors/rules.hpp"
#include "core/formats/seems.hpp"

namespace tensorfs::safetensors {
namespace {

[[noreturn]] void fail_on_length(const Shard& shard, Kind kind, std::string text) {
    if (const std::string seeming = seems_to_be(shard); !seeming.empty()) text = fmt::format("{} ({})", seeming, text);
    throw Error({kind, shard.path(), {}, std::move(text)});
}

}  // namespace

Header parse_header(const json::Text& text, std::uint64_t file_size, const std::string& path,
                    const HeaderOptions& options) {
    const std::string_view bytes = text.view();
    if (!simdjson::validate_utf8(bytes.data(), bytes.size())) {
        throw Error({Kind::InvalidHeader, path, {}, "the header is not UTF-8"});
    }
    Header header;
    std::vector<HeaderEntry> entries;
    try {
        entries = read_entries(text, options, header);
    } catch (const json::SyntaxError& e) {
        throw Error({Kind::InvalidHeaderDeserialization, path, {}, std::string("the header: ") + e.what()});
    }
    for (Problem& problem : header.problems) problem.path = path;
    check_entries(header, std::move(entries), {path, file_size, 8 + bytes.size()}, options);
    return header;
}

Header read_header(const Shard& shard, const HeaderOptions& options) {
    constexpr std::uint64_t length_size = 8;
    if (shard.size() < length_size) {
        fail_on_length(shard, Kind::HeaderTooSmall,
                       shard.size() == 0
                           ? "the file is empty"
                           : fmt::format("the file has {} bytes, fewer than the header length's 8", shard.size()));
    }
    std::array<char, length_size> length_bytes{};
    shard.read(0, length_bytes);
    std::uint64_t length = 0;
    for (std::size_t i = length_size; i-- > 0;) length = length << 8 | static_cast<unsigned char>(length_bytes[i]);
    if (length > max_header_size) {
        fail_on_length(shard, Kind::HeaderTooLarge,
                       fmt::format("the header length is {}, more than {}", length, max_header_size));
    }
    if (length > shard.size() - length_size) {
        fail_on_length(
            shard, Kind::InvalidHeaderLength,
            fmt::format("the header length is {}, but only {} bytes follow it: the file was cut short or is still "
                        "being downloaded",
                        length, shard.size() - length_size));
    }
    json::Text text(length);
    shard.read(length_size, {text.data(), length});
    return parse_header(text, shard.size(), shard.path(), options);
}

Metadata read_metadata(const Shard& shard, Keep wanted) {
    return std::move(read_header(shard, {.keep = wanted}).metadata);
}

}  // namespace tensorfs::safetensors
