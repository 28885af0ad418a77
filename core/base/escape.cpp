#include "core/base/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace tensorfs {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

/// The code point of a character of `length` bytes that utf8_length() has accepted.
std::uint32_t code_point(std::string_view text, std::size_t length) {
    if (length == 1) return byte_at(text, 0);
    std::uint32_t value = byte_at(text, 0) & (0xFFu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) value = (value << 6) | (byte_at(text, i) & 0x3Fu);
    return value;
}

/// Characters that move the cursor, end the line or turn the text around.
bool is_unsafe(std::uint32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
    const unsigned lead = byte_at(text, 0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte_at(text, i) & 0xC0u) != 0x80) return 0;
    }
    const unsigned second = byte_at(text, 1);
    if (lead == 0xE0 && second < 0xA0) return 0;  // overlong
    if (lead == 0xED && second > 0x9F) return 0;  // surrogate
    if (lead == 0xF0 && second < 0x90) return 0;  // overlong
    if (lead == 0xF4 && second > 0x8F) return 0;  // past U+10FFFF
    return length;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string in_quotes(std::string_view name) {
    constexpr std::size_t longest = 200;
    if (name.size() <= longest) return '"' + std::string(name) + '"';
    std::size_t end = longest;
    while (end > longest - 3 && (byte_at(name, end) & 0xC0u) == 0x80) --end;  // not within a character
    return '"' + std::string(name.substr(0, end)) + "...\"";
}

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t valid = utf8_length(text);
        const std::size_t length = std::max<std::size_t>(valid, 1);
        const std::string_view character = text.substr(0, length);
        text.remove_prefix(length);
        if (valid != 0 && character != "\\" && !is_unsafe(code_point(character, length))) {
            out += character;
        } else if (character == "\\") {
            out += "\\\\";
        } else if (character == "\n") {
            out += "\\n";
        } else if (character == "\r") {
            out += "\\r";
        } else if (character == "\t") {
            out += "\\t";
        } else {
            for (const char byte : character) {
                fmt::format_to(std::back_inserter(out), "\\x{:02X}", static_cast<unsigned char>(byte));
            }
        }
    }
    return out;
}

}  // namespace tensorfs
