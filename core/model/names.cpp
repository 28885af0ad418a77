#include "core/model/names.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <iterator>

#include "core/base/escape.hpp"

namespace tensorfs {
namespace {

bool is_escaped(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F || c == '%' || c == '/';
}

/// The longest beginning of at most `limit` bytes that splits neither a character nor a %XX.
std::string_view cut_to(std::string_view name, std::size_t limit) {
    std::size_t end = 0;
    while (end < name.size()) {
        const std::string_view rest = name.substr(end);
        const std::size_t step = rest.front() == '%' ? 3 : std::max<std::size_t>(utf8_length(rest), 1);
        if (end + step > limit) break;
        end += step;
    }
    return name.substr(0, end);
}

}  // namespace

std::string_view file_name(std::string_view segment, bool first, std::string& storage) {
    if (segment.empty()) return "%";
    if (segment == ".") return "%2E";
    if (segment == "..") return "%2E%2E";
    if (first && segment == ".tensorfs") return "%2Etensorfs";
    std::string_view name = segment;
    if (std::any_of(segment.begin(), segment.end(), is_escaped)) {
        storage = escape_segment(segment);
        name = storage;
    }
    if (name.size() <= max_segment) return name;
    storage = with_suffix(name, fmt::format("~{:08x}", XXH32(segment.data(), segment.size(), 0)));
    return storage;
}

std::string escape_segment(std::string_view segment) {
    std::string out;
    for (const char c : segment) {
        if (is_escaped(c)) {
            fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out;
}

std::string with_suffix(std::string_view name, std::string_view suffix) {
    return std::string(cut_to(name, max_segment - suffix.size())) + std::string(suffix);
}

}  // namespace tensorfs
