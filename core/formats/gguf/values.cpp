#include "core/formats/gguf/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <string>
#include <utility>

#include "core/base/json_text.hpp"

namespace tensorfs::gguf {
namespace {

struct TypeInfo {
    std::string_view name;
    std::size_t least;  // bytes that a value takes; of strings and arrays, those that an empty one takes
};

constexpr std::array<TypeInfo, 13> types{{{"u8", 1},
                                          {"i8", 1},
                                          {"u16", 2},
                                          {"i16", 2},
                                          {"u32", 4},
                                          {"i32", 4},
                                          {"f32", 4},
                                          {"bool", 1},
                                          {"str", 8},
                                          {"arr", 12},
                                          {"u64", 8},
                                          {"i64", 8},
                                          {"f64", 8}}};

constexpr unsigned most_nested = 8;

const TypeInfo& info(ValueType type) { return types[static_cast<std::size_t>(type)]; }

/// Most strings of a vocabulary are JSON as they are.
bool is_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

}  // namespace

ValueType read_type(Window& window, std::string_view what) {
    const std::uint64_t id = window.number(4, "a type in the metadata");
    if (id >= types.size()) window.fail(Kind::InvalidHeader, fmt::format("{}: there is no type {}", what, id));
    return static_cast<ValueType>(id);
}

std::string_view to_string(ValueType type) { return info(type).name; }

MetadataValue ValueReader::read(ValueType type) {
    if (type == ValueType::array && keep_ != Keep::all) {
        skip_array(1);
        return NotKept{.is_array = true};
    }
    if (type == ValueType::array) {
        JsonArray array;
        write_array(1, array.text);
        return array;
    }
    if (type != ValueType::string) return read_number(type);
    const std::uint64_t size = window_.number(8, "a string's length");
    if (keep_ == Keep::short_values && size > longest_kept_text) {
        window_.skip(size, "a string value");
        return NotKept{};
    }
    std::string text;
    window_.read(size, text, "a string value");
    return text;
}

ValueReader::ArrayHead ValueReader::read_array_head(unsigned depth) {
    if (depth > most_nested)
        window_.fail(Kind::InvalidHeader, fmt::format("the metadata's arrays are nested deeper than {}", most_nested));
    const ValueType of = read_type(window_, "an array's elements");
    const std::uint64_t count = window_.number(8, "an array's count");
    if (count > window_.left() / info(of).least) {
        window_.fail(Kind::InvalidHeaderLength,
                     fmt::format("an array claims {} elements of type {}, but only {} bytes follow: the file was cut "
                                 "short, is still being downloaded, or is not what it claims to be",
                                 count, to_string(of), window_.left()));
    }
    if (depth == 1 && of == ValueType::array) ++nested_;
    return {of, count};
}

MetadataValue ValueReader::read_number(ValueType type) {
    const std::uint64_t bits = window_.number(info(type).least, "a value");
    switch (type) {
        case ValueType::i8: return std::int64_t{static_cast<std::int8_t>(bits)};
        case ValueType::i16: return std::int64_t{static_cast<std::int16_t>(bits)};
        case ValueType::i32: return std::int64_t{static_cast<std::int32_t>(bits)};
        case ValueType::i64: return static_cast<std::int64_t>(bits);
        case ValueType::f32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        case ValueType::f64: return std::bit_cast<double>(bits);
        case ValueType::boolean: return bits != 0;
        default: return bits;
    }
}

void ValueReader::skip_array(unsigned depth) {
    const auto [of, count] = read_array_head(depth);
    if (of == ValueType::array) {
        for (std::uint64_t i = 0; i < count; ++i) skip_array(depth + 1);
    } else if (of == ValueType::string) {
        window_.skip_strings(count, "a string in an array");
    } else {
        window_.skip(count * info(of).least, "an array");
    }
}

void ValueReader::write_array(unsigned depth, std::string& out) {
    const auto [of, count] = read_array_head(depth);
    out += '[';
    for (std::uint64_t i = 0; i < count; ++i) {
        if (i != 0) out += ',';
        if (of == ValueType::array) {
            write_array(depth + 1, out);
        } else if (of == ValueType::string) {
            write_string(out);
        } else {
            out += to_json(read_number(of));
        }
    }
    out += ']';
}

void ValueReader::write_string(std::string& out) {
    window_.read(window_.number(8, "a string's length"), text_, "a string in an array");
    if (is_plain(text_)) {
        out.append(1, '"').append(text_).append(1, '"');
    } else {
        out += json_string(text_);
    }
}

}  // namespace tensorfs::gguf
