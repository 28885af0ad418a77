#include "core/base/json.hpp"

#include "tests/support/expect.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

/// Why the text is refused; "" if it is accepted.
std::string refusal(std::string_view text) {
    try {
        json::parse_object(json::Text(text), [](std::string_view, json::Value value) { value.validate(); });
    } catch (const json::SyntaxError& e) {
        return std::string(e.what()).empty() ? "refused" : e.what();
    }
    return {};
}

/// Whether {"a": VALUE} is accepted.
bool accepts_value(std::string_view value) { return refusal("{\"a\":" + std::string(value) + "}").empty(); }

std::string repeated(std::string_view text, int times) {
    std::string all;
    while (times-- > 0) all += text;
    return all;
}

}  // namespace

TEST_CASE("every kind of JSON value is accepted") {
    for (const char* value :
         {"null", "true", "false", "0", "-0", "12", "-1.5e+10", "1E5", "1e-400", "0.0", "\"\"", "\"x\"", "[]", "{}",
          "[1,[2,{\"b\":[]}],\"]\"]", "{\"b\":{\"c\":null},\"b\":1}", " \t\r\n 1 \t\r\n "}) {
        INFO(value);
        CHECK(accepts_value(value));
    }
}

TEST_CASE("what only looks like a JSON value is refused") {
    for (const char* value : {"",           "nul",       "nullx",
                              "NULL",       "True",      "tru",
                              "falsee",     "NaN",       "Infinity",
                              "-Infinity",  "undefined", "'x'",
                              "x",          "[",         "]",
                              "[1",         "[1,]",      "[,1]",
                              "[1,,2]",     "[1 2]",     "[1}",
                              "{\"b\"}",    "{\"b\":}",  "{\"b\":1,}",
                              "{,}",        "{\"b\" 1}", "{\"b\":1 \"c\":2}",
                              "{b:1}",      "{1:2}",     "{\"b\"::1}",
                              "1 2",        "null null", "\"x\" 1",
                              "\"x\"\"y\"", "/* */ 1",   "1 // x\n",
                              "{\"b\":1]"}) {
        INFO(value);
        CHECK_FALSE(accepts_value(value));
    }
}

TEST_CASE("a string that is a value is no key, whatever follows it") {
    for (const char* value : {"\"x\":1", "\"x\":1}", "\"x\":{,,}}", "\"x\":\"y\"}", "[\"x\":1]", "[\"x\":[,junk]]]",
                              "[1,\"x\":[]]]", "{\"b\":\"x\":{}}}"}) {
        INFO(value);
        CHECK_FALSE(accepts_value(value));
    }
}

TEST_CASE("a number is written as JSON writes numbers") {
    for (const char* value : {"00",  "01",    "-01",  "+1",    "-",     ".5",  "5.", "-.5", "1.e5", "1e",    "1e+",
                              "1e-", "1.5.5", "0x10", "1_000", "1e5.5", "--1", "1-", "1a",  "0b1",  "1E+-2", "1f"}) {
        INFO(value);
        CHECK_FALSE(accepts_value(value));
    }
}

TEST_CASE("a number fits a double") {
    CHECK(accepts_value("1.7976931348623157e308"));
    CHECK(accepts_value("-1.7976931348623157e308"));
    CHECK(accepts_value("123456789012345678901234567890"));
    CHECK(accepts_value("1" + std::string(308, '0')));
    CHECK(accepts_value("0e999999999999"));
    CHECK_FALSE(accepts_value("1e309"));
    CHECK_FALSE(accepts_value("-1e309"));
    CHECK_FALSE(accepts_value("1.8e308"));
    CHECK_FALSE(accepts_value("1e99999999999999999999"));
    CHECK_FALSE(accepts_value("1" + std::string(309, '0')));
    CHECK_FALSE(accepts_value("1" + std::string(400, '0') + ".5"));
}

TEST_CASE("containers may be 127 deep and no deeper") {
    // The outer object is the first.
    CHECK(accepts_value(repeated("[", 126) + repeated("]", 126)));
    CHECK_FALSE(accepts_value(repeated("[", 127) + repeated("]", 127)));
    CHECK(accepts_value(repeated("{\"b\":", 126) + "1" + repeated("}", 126)));
    CHECK_FALSE(accepts_value(repeated("{\"b\":", 127) + "1" + repeated("}", 127)));
    CHECK_FALSE(accepts_value(repeated("[", 100000) + repeated("]", 100000)));
    CHECK_FALSE(accepts_value(repeated("[", 1000000)));
}

TEST_CASE("a string's escapes are JSON's, and its surrogates come in pairs") {
    for (const char* value : {R"("\"\\\/\b\f\n\r\t")", R"("\u0000")", R"("\uD83E\uDD17")", R"("\ud83e\udd17")",
                              R"("\uFFFF")", R"("\u00e9x")"}) {
        INFO(value);
        CHECK(accepts_value(value));
    }
    for (const char* value :
         {R"("\x41")",         R"("\a")",           R"("\'")",           R"("\0")",      R"("\U0041")",
          R"("\u")",           R"("\u004")",        R"("\u00G0")",       R"("\u+041")",  R"("\uD800")",
          R"("\uDC00")",       R"("\uDC00\uD800")", R"("\uD800\uD800")", R"("\uD800x")", R"("\uD800\n")",
          R"("\uD800\u0041")", R"("\uD83E\uDD1")",  R"("\uD83E\u")",     R"("x)",        R"("\")"}) {
        INFO(value);
        CHECK_FALSE(accepts_value(value));
    }
}

TEST_CASE("a key is a string like any other") {
    CHECK(refusal(R"({"\u0061\n":1})").empty());
    CHECK_FALSE(refusal(R"({"\uD800":1})").empty());
    CHECK_FALSE(refusal(R"({"\x":1})").empty());
    CHECK_FALSE(refusal("{\"a\nb\":1}").empty());
}

TEST_CASE("a string holds no bare control character") {
    for (char c = 0; c < 0x20; ++c) {
        INFO(static_cast<int>(c));
        CHECK_FALSE(accepts_value(std::string("\"x") + c + "\""));
    }
    CHECK(accepts_value("\"\x7F\""));
    CHECK(accepts_value("\"\xC2\x9B\""));
}

TEST_CASE("white space is space, tab, line feed and carriage return") {
    CHECK(refusal(" \t\r\n{ \t\r\n\"a\" \t\r\n: \t\r\n1 \t\r\n} \t\r\n").empty());
    for (const char* space : {"\v", "\f", "\xC2\xA0", "\xE2\x80\xA8"}) {
        CHECK_FALSE(refusal(std::string(space) + "{}").empty());
        CHECK_FALSE(refusal(std::string("{}") + space).empty());
        CHECK_FALSE(refusal(std::string("{") + space + "}").empty());
    }
    CHECK_FALSE(refusal(std::string_view("{}\0", 3)).empty());
    CHECK_FALSE(refusal(std::string_view("\0{}", 3)).empty());
}

TEST_CASE("the text is one object and nothing else") {
    CHECK(refusal("{}").empty());
    for (const char* text : {"",           " ",        "[]",        "1",      "null",           "\"a\"", "{",
                             "}",          "{}}",      "{}{}",      "{},",    "{} x",           "{}1",   "{}\"\"",
                             "{\"a\":1}]", "{\"a\":1", "{\"a\":1,", "{\"a\"", "\xEF\xBB\xBF{}", "x{}",   "//\n{}"}) {
        INFO(text);
        CHECK_FALSE(refusal(text).empty());
    }
}

TEST_CASE("a refusal says at which byte") {
    const std::string text = refusal(R"({"a":1,"b":[tru]})");
    CHECK(contains(text, "tru"));
    CHECK(contains(text, "near byte 1"));
}

TEST_CASE("no cut of a text is accepted") {
    const std::string whole = R"({"a":[1,2.5e3,{"b":"\u00e9\\"}],"c":{"d":null,"e":true}})";
    REQUIRE(refusal(whole).empty());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        INFO(size);
        CHECK_FALSE(refusal(whole.substr(0, size)).empty());
    }
}
