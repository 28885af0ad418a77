#include "core/base/escape.hpp"

#include <random>

#include "tests/support/catch.hpp"

using namespace tensorfs;

namespace {

/// UTF-8 by its definition.
std::string encode(std::uint32_t c) {
    const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
    if (c < 0x80) return {byte(c)};
    if (c < 0x800) return {byte(0xC0 + c / 64), byte(0x80 + c % 64)};
    if (c < 0x10000) return {byte(0xE0 + c / 4096), byte(0x80 + c / 64 % 64), byte(0x80 + c % 64)};
    return {byte(0xF0 + c / 262144), byte(0x80 + c / 4096 % 64), byte(0x80 + c / 64 % 64), byte(0x80 + c % 64)};
}

/// What printable() was given, from what it answered.
std::string undo(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            out += text[i];
            continue;
        }
        const char kind = text.at(++i);
        if (kind == 'x') {
            out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
            i += 2;
        } else {
            out += kind == 'n' ? '\n' : kind == 'r' ? '\r' : kind == 't' ? '\t' : kind;
        }
    }
    return out;
}

}  // namespace

TEST_CASE("ordinary text is printed as it is") {
    CHECK(printable("") == "");
    CHECK(printable("model.layers.0.weight ~%\"'") == "model.layers.0.weight ~%\"'");
    CHECK(printable("größe 張量 🤗") == "größe 張量 🤗");
}

TEST_CASE("what a terminal would obey is printed as an escape") {
    CHECK(printable("a\nb\tc\rd") == "a\\nb\\tc\\rd");
    CHECK(printable("\x1B[2J") == "\\x1B[2J");
    CHECK(printable(std::string_view("\0", 1)) == "\\x00");
    CHECK(printable("\x7F") == "\\x7F");
    CHECK(printable("\xC2\x9B"
                    "31m") == "\\xC2\\x9B31m");
    CHECK(printable("\\") == "\\\\");
}

TEST_CASE("line separators, bidirectional controls and the byte order mark are printed as escapes") {
    CHECK(printable("\u2028") == "\\xE2\\x80\\xA8");
    CHECK(printable("\u2029") == "\\xE2\\x80\\xA9");
    CHECK(printable("\u202E") == "\\xE2\\x80\\xAE");
    CHECK(printable("\u2066") == "\\xE2\\x81\\xA6");
    CHECK(printable("\u200F") == "\\xE2\\x80\\x8F");
    CHECK(printable("\uFEFF") == "\\xEF\\xBB\\xBF");
}

TEST_CASE("bytes that are not UTF-8 are printed as escapes, and only they") {
    CHECK(printable("a\xFFz") == "a\\xFFz");
    CHECK(printable("\xC0\xAF") == "\\xC0\\xAF");
    CHECK(printable("\xED\xA0\x80") == "\\xED\\xA0\\x80");
    CHECK(printable("\xE2\x82") == "\\xE2\\x82");
    CHECK(printable("\xC3z") == "\\xC3z");
}

TEST_CASE("escaping loses nothing and leaves no control character, whatever the bytes") {
    std::mt19937 random(1);
    const std::string_view likely = "ab\\nx\x1B\n\r\t\x7F\xC2\x85\xE2\x80\xAE\xF0\x9F\xA4\x97\xFF\xED\xA0";
    for (int round = 0; round < 20000; ++round) {
        std::string text(random() % 12, '\0');
        for (char& byte : text) byte = likely[random() % likely.size()];
        const std::string shown = printable(text);
        REQUIRE(undo(shown) == text);
        for (std::size_t i = 0; i < shown.size(); i += utf8_length(std::string_view(shown).substr(i))) {
            const std::string_view rest = std::string_view(shown).substr(i);
            REQUIRE(utf8_length(rest) > 0);
            REQUIRE(static_cast<unsigned char>(rest.front()) >= 0x20);
            REQUIRE(rest.front() != '\x7F');
            REQUIRE_FALSE((rest.front() == '\xC2' && static_cast<unsigned char>(rest[1]) < 0xA0));
        }
    }
}

TEST_CASE("every character has its length in UTF-8, and a surrogate has none") {
    std::uint32_t wrong = 0;
    for (std::uint32_t c = 0; c <= 0x10FFFF; ++c) {
        const std::string bytes = encode(c);
        const std::size_t expected = c >= 0xD800 && c <= 0xDFFF ? 0 : bytes.size();
        if (utf8_length(bytes) != expected || utf8_length(bytes + "\x80z") != expected) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("overlong, too large, cut off and stray bytes are no UTF-8") {
    for (const char* bytes : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF",
                              "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE",
                              "\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\xA4", "\xC3(", "\xE2(\xA1", "\xF0\x9F(\x97"}) {
        INFO(printable(bytes));
        CHECK(utf8_length(bytes) == 0);
    }
}

TEST_CASE("a name in a message stands in quotes, and a long one is shortened") {
    CHECK(in_quotes("a.weight") == "\"a.weight\"");
    CHECK(in_quotes("") == "\"\"");
    const std::string quoted = in_quotes(std::string(100000, 'x'));
    CHECK(quoted.size() < 300);
    CHECK(quoted.substr(0, 100) == '"' + std::string(99, 'x'));
    CHECK(quoted.substr(quoted.size() - 4) == "...\"");
}

TEST_CASE("a name that is shortened in quotes is not cut within a character") {
    for (const std::size_t before : {197U, 198U, 199U, 200U}) {
        INFO(before);
        std::string name(before, 'x');
        for (int i = 0; i < 40; ++i) name += "\xF0\x9F\x98\x80";
        CHECK(printable(in_quotes(name)) == in_quotes(name));
        CHECK(in_quotes(name).ends_with("...\""));
    }
}
