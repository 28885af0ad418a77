#include "core/base/json.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/base/escape.hpp"

namespace tensorfs::json {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Four hexadecimal digits; nothing if they are not. REQUIRES: a quote or padding ends the text.
std::optional<std::uint32_t> hex4(const char* at) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
        const char c = at[i];
        const char lower = static_cast<char>(c | 0x20);
        if (is_digit(c)) {
            value = value * 16 + static_cast<std::uint32_t>(c - '0');
        } else if (lower >= 'a' && lower <= 'f') {
            value = value * 16 + static_cast<std::uint32_t>(lower - 'a' + 10);
        } else {
            return std::nullopt;
        }
    }
    return value;
}

void append_utf8(std::string& out, std::uint32_t c) {
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xC0 | (c >> 6));
        put(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        put(0xE0 | (c >> 12));
        put(0x80 | ((c >> 6) & 0x3F));
        put(0x80 | (c & 0x3F));
    } else {
        put(0xF0 | (c >> 18));
        put(0x80 | ((c >> 12) & 0x3F));
        put(0x80 | ((c >> 6) & 0x3F));
        put(0x80 | (c & 0x3F));
    }
}

/// Appends the character of the \u escape whose 'u' is at `at`; answers what follows it.
const char* append_unicode_escape(const char* at, std::string& out) {
    const std::optional<std::uint32_t> high = hex4(at + 1);
    if (!high) throw SyntaxError("a \\u escape needs four hexadecimal digits");
    at += 5;
    if (*high < 0xD800 || *high > 0xDFFF) {
        append_utf8(out, *high);
        return at;
    }
    const bool paired = *high < 0xDC00 && at[0] == '\\' && at[1] == 'u';
    const std::optional<std::uint32_t> low = paired ? hex4(at + 2) : std::nullopt;
    if (!low || *low < 0xDC00 || *low > 0xDFFF) throw SyntaxError("a \\u escape holds half of a surrogate pair");
    append_utf8(out, 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00));
    return at + 6;
}

/// Whether `text` is a number by JSON's grammar.
bool is_number(std::string_view text) {
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto digits = [&] {
        const char* const begin = at;
        while (at != end && is_digit(*at)) ++at;
        return at != begin;
    };
    if (at != end && *at == '-') ++at;
    const bool leading_zero = at != end && *at == '0';
    const char* const whole = at;
    if (!digits() || (leading_zero && at - whole > 1)) return false;
    if (at != end && *at == '.') {
        ++at;
        if (!digits()) return false;
    }
    if (at != end && (*at == 'e' || *at == 'E')) {
        ++at;
        if (at != end && (*at == '+' || *at == '-')) ++at;
        if (!digits()) return false;
    }
    return at == end;
}

/// Throws unless `text` is a number that a double can hold.
void check_number(std::string_view text) {
    if (!is_number(text)) throw SyntaxError(in_quotes(text) + " is not a JSON value");
    if (std::isinf(std::strtod(std::string(text).c_str(), nullptr))) {
        throw SyntaxError("the number " + in_quotes(text) + " is out of range");
    }
}

}  // namespace

std::string_view decode_string(const char* raw, std::string& scratch, const char** end) {
    // simdjson has seen to it that a quote follows, so the search ends.
    const auto* const quote = static_cast<const char*>(std::memchr(raw, '"', SIZE_MAX / 2));
    const auto length = static_cast<std::size_t>(quote - raw);
    const auto* at = static_cast<const char*>(std::memchr(raw, '\\', length));
    if (at == nullptr) {
        if (end != nullptr) *end = quote + 1;
        return {raw, length};
    }
    scratch.assign(raw, at);
    while (*at != '"') {
        if (*at != '\\') {
            scratch += *at++;
            continue;
        }
        ++at;
        switch (*at) {
            case '"':
            case '\\':
            case '/': scratch += *at++; break;
            case 'b':
                scratch += '\b';
                ++at;
                break;
            case 'f':
                scratch += '\f';
                ++at;
                break;
            case 'n':
                scratch += '\n';
                ++at;
                break;
            case 'r':
                scratch += '\r';
                ++at;
                break;
            case 't':
                scratch += '\t';
                ++at;
                break;
            case 'u': at = append_unicode_escape(at, scratch); break;
            default: throw SyntaxError("a string holds an escape that JSON does not have");
        }
    }
    if (end != nullptr) *end = at + 1;
    return scratch;
}

Type Value::type() {
    const std::string_view text = value_.raw_json_token();
    switch (text.front()) {
        case '{': return Type::object;
        case '[': return Type::array;
        case '"': return Type::string;
        case 't':
        case 'f': return Type::boolean;
        case 'n': return Type::null;
        default: return Type::number;
    }
}

std::string_view Value::token() {
    std::string_view text = value_.raw_json_token();  // and the white space behind it
    while (is_space(text.back())) text.remove_suffix(1);
    return text;
}

unsigned Value::inner_depth() const {
    if (depth_ >= max_depth) throw SyntaxError("it is nested more than 127 deep");
    return depth_ + 1;
}

bool Value::is_null() {
    if (type() != Type::null) return false;
    if (token() != "null") throw SyntaxError(in_quotes(token()) + " is not a JSON value");
    return true;
}

std::string_view Value::string(std::string& scratch) {
    const std::string_view text = token();
    if (text.front() != '"') throw SyntaxError("a string is expected here");
    const char* end = nullptr;
    const std::string_view decoded = decode_string(text.data() + 1, scratch, &end);
    if (end != text.data() + text.size()) throw SyntaxError("something follows a string");
    // A string that is not consumed, simdjson takes for a key where a ':' follows, and passes over both.
    static_cast<void>(value_.get_raw_json_string().value());
    return decoded;
}

std::optional<std::uint64_t> Value::unsigned_integer() {
    const std::string_view text = token();
    std::uint64_t value = 0;
    bool fits = true;
    for (const char c : text) {
        if (!is_digit(c)) {
            if (type() != Type::number) throw SyntaxError("a number is expected here");
            check_number(text);
            return std::nullopt;
        }
        fits = fits && !__builtin_mul_overflow(value, std::uint64_t{10}, &value) &&
               !__builtin_add_overflow(value, static_cast<std::uint64_t>(c - '0'), &value);
    }
    if (text.front() == '0' && text.size() > 1) throw SyntaxError("a number begins with 0");
    if (!fits) {
        check_number(text);
        return std::nullopt;
    }
    return value;
}

void Value::validate() {
    switch (type()) {
        case Type::object: fields([](std::string_view, Value value) { value.validate(); }); break;
        case Type::array: elements([](Value value) { value.validate(); }); break;
        case Type::string: {
            std::string scratch;
            string(scratch);
            break;
        }
        case Type::number: check_number(token()); break;
        case Type::null:
        case Type::boolean:
            if (token() != "null" && token() != "true" && token() != "false") {
                throw SyntaxError(in_quotes(token()) + " is not a JSON value");
            }
            break;
    }
}

}  // namespace tensorfs::json
