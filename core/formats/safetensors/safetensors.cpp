#include "core/formats/safetensors/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/formats/safetensors/entries.hpp"
#include "core/formats/safetensors/rules.hpp"

namespace tensorfs {
namespace {

/// What a file that is no safetensors file seems to be, for the message; "" where nothing is known.
std::string_view recognize(std::string_view beginning) {
    struct Signature {
        std::string_view bytes, meaning;
    };
    static constexpr std::array<Signature, 8> signatures{{
        {"version https://git-lfs",
         "this is a git-lfs pointer: the file itself was not downloaded (`git lfs pull` does)"},
        {"version https://hawser",
         "this is a git-lfs pointer: the file itself was not downloaded (`git lfs pull` does)"},
        {"GGUF", "this looks like a GGUF file"},
        {"PK\x03\x04", "this looks like a zip archive, perhaps a PyTorch checkpoint"},
        {"\x89HDF", "this looks like an HDF5 file"},
        {"<!DOCTYPE", "this looks like a web page: the download was answered with an error or a login"},
        {"<html", "this looks like a web page: the download was answered with an error or a login"},
        {"{", "this looks like JSON"},
    }};
    for (const Signature& signature : signatures) {
        if (beginning.starts_with(signature.bytes)) return signature.meaning;
    }
    return {};
}

[[noreturn]] void fail_on_length(const Shard& shard, Kind kind, std::string text) {
    std::string beginning(std::min<std::uint64_t>(shard.size(), 64), '\0');
    shard.read(0, beginning);
    if (const std::string_view meaning = recognize(beginning); !meaning.empty())
        text = fmt::format("{} ({})", meaning, text);
    throw Error({kind, shard.path(), {}, std::move(text)});
}

}  // namespace

Header parse_header(const json::Text& text, std::uint64_t file_size, const std::string& path, std::string_view prefix) {
    const std::string_view bytes = text.view();
    if (!simdjson::validate_utf8(bytes.data(), bytes.size())) {
        throw Error({Kind::InvalidHeader, path, {}, "the header is not UTF-8"});
    }
    Header header;
    std::vector<HeaderEntry> entries;
    try {
        entries = read_entries(text, prefix, header);
    } catch (const json::SyntaxError& e) {
        throw Error({Kind::InvalidHeaderDeserialization, path, {}, std::string("the header: ") + e.what()});
    }
    check_entries(header, std::move(entries), 8 + bytes.size(), file_size, path, prefix.size());
    return header;
}

Header read_header(const Shard& shard, std::string_view prefix) {
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
    return parse_header(text, shard.size(), shard.path(), prefix);
}

}  // namespace tensorfs
