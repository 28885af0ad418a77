#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tensorfs {

/// Stands for a value that is not kept in memory: an array, or a text of more than `longest_kept_text`. Who
/// wants it reads the metadata from the shard again (Format::read_metadata).
struct NotKept {
    bool is_array = false;
    bool operator==(const NotKept&) const = default;
};

/// An array, as JSON in ASCII.
struct JsonArray {
    std::string text;
    bool operator==(const JsonArray&) const = default;
};

/// In bytes; as much as an extended attribute can hold.
inline constexpr std::size_t longest_kept_text = 64 << 10;

/// A value of a file's metadata. Texts may be any bytes.
using MetadataValue = std::variant<bool, std::int64_t, std::uint64_t, float, double, std::string, JsonArray, NotKept>;

/// Which values are wanted of a file's metadata; the others are NotKept.
enum class Keep : std::uint8_t {
    short_values,  // no arrays, and texts up to longest_kept_text
    texts,         // no arrays
    all
};

/// What a file says of itself beside its tensors: each key once, in the order of the file.
using Metadata = std::vector<std::pair<std::string, MetadataValue>>;

/// A value as text: a string as it is, true and false, a number with as many digits as tell it from its
/// neighbours ("0.1"), NaN and infinities as "nan", "inf" and "-inf", an array as JSON. REQUIRES: it is kept.
std::string to_string(const MetadataValue& value);

/// The same as JSON in ASCII; numbers that JSON has not are strings ("NaN", "Infinity", "-Infinity").
/// REQUIRES: it is kept.
std::string to_json(const MetadataValue& value);

/// Whether all values are there that are wanted.
bool has_all(const Metadata& metadata, Keep wanted);

}  // namespace tensorfs
