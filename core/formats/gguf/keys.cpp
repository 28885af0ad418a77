#include "core/formats/gguf/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/base/escape.hpp"
#include "core/formats/gguf/values.hpp"
#include "core/formats/seems.hpp"

namespace tensorfs::gguf {
namespace {

constexpr std::uint64_t first_key_at = 24;
// Of a key, a bool under a name of one byte; of a tensor, a scalar without a name.
constexpr std::uint64_t least_key = 8 + 1 + 4 + 1;
constexpr std::uint64_t least_tensor = 8 + 4 + 4 + 8;

[[noreturn]] void fail_as_other(const Window& window, const Shard& shard, Kind kind, std::string text) {
    if (const std::string seeming = seems_to_be(shard); !seeming.empty()) text = fmt::format("{} ({})", seeming, text);
    window.fail(kind, std::move(text));
}

void check_version(const Window& window, std::uint64_t version) {
    if (version == 2 || version == 3) return;
    if (version == 1) {
        window.fail(Kind::UnsupportedVersion,
                    "it is of version 1 of GGUF, which llama.cpp stopped reading in 2023: it must be converted anew");
    }
    if (version != 0 && (version & 0xFFFF) == 0) {
        window.fail(Kind::BigEndian,
                    "it is a big-endian GGUF file; llama.cpp's gguf_convert_endian.py makes a little-endian one");
    }
    window.fail(Kind::UnsupportedVersion, fmt::format("it is of version {} of GGUF; 2 and 3 are read", version));
}

void check_each_key_once(const Window& window, const Metadata& metadata) {
    std::vector<std::uint32_t> order(metadata.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return metadata[a].first < metadata[b].first; });
    const auto twice = std::adjacent_find(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return metadata[a].first == metadata[b].first;
    });
    if (twice != order.end()) {
        window.fail(Kind::DuplicateKey,
                    fmt::format("the key {} stands twice in the metadata", in_quotes(metadata[*twice].first)));
    }
}

/// Rule 5, of one key.
void follow_key(const Window& window, std::string_view key, ValueType type, const MetadataValue& value, Keys& keys) {
    const auto require = [&](ValueType wanted) {
        if (type == wanted) return;
        window.fail(Kind::InvalidHeader,
                    fmt::format("{} is of type {}, not {}", key, to_string(type), to_string(wanted)));
    };
    if (key == alignment_key) {
        require(ValueType::u32);
        keys.alignment = std::get<std::uint64_t>(value);
        if (!std::has_single_bit(keys.alignment))
            window.fail(Kind::InvalidHeader, fmt::format("{} is {}, not a power of two", key, keys.alignment));
    } else if (key == split_count_key) {
        require(ValueType::u16);
    }
}

}  // namespace

Counts read_counts(Window& window, const Shard& shard) {
    std::string magic;
    window.read(std::min<std::uint64_t>(4, window.left()), magic, "the magic");
    if (magic != std::string_view("GGUF").substr(0, magic.size()))
        fail_as_other(window, shard, Kind::InvalidHeader, "it does not begin with GGUF");
    if (shard.size() < first_key_at) {
        window.fail(Kind::HeaderTooSmall,
                    shard.size() == 0 ? "the file is empty"
                                      : fmt::format("the file has {} bytes, fewer than the {} that every GGUF file "
                                                    "begins with",
                                                    shard.size(), first_key_at));
    }
    check_version(window, window.number(4, "the version"));
    Counts counts{};
    counts.tensors = window.number(8, "the number of tensors");
    counts.keys = window.number(8, "the number of keys");
    const std::uint64_t left = window.left();
    if (counts.keys > left / least_key || counts.tensors > (left - counts.keys * least_key) / least_tensor ||
        counts.tensors > UINT32_MAX || counts.keys > UINT32_MAX) {
        window.fail(
            Kind::InvalidHeaderLength,
            fmt::format("it claims {} keys and {} tensors, but only {} bytes follow: the file was cut short, is "
                        "still being downloaded, or is not what it claims to be",
                        counts.keys, counts.tensors, left));
    }
    return counts;
}

Keys read_keys(Window& window, std::uint64_t count, Keep keep) {
    Keys keys;
    ValueReader reader(window, keep);
    for (std::uint64_t i = 0; i < count; ++i) {
        std::string key;
        window.read(window.number(8, "a key's length"), key, "a key");
        if (key.empty()) window.fail(Kind::InvalidHeader, fmt::format("key {} of the metadata is empty", i + 1));
        const ValueType type = read_type(window, in_quotes(key));
        MetadataValue value = reader.read(type);
        follow_key(window, key, type, value, keys);
        keys.metadata.emplace_back(std::move(key), std::move(value));
    }
    check_each_key_once(window, keys.metadata);
    keys.nested_arrays = reader.nested();
    return keys;
}

}  // namespace tensorfs::gguf
