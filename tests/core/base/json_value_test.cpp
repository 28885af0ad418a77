#include <optional>

#include "core/base/json.hpp"
#include "tests/support/catch.hpp"

using namespace tensorfs;

namespace {

/// Calls `use` with the value in {"a": VALUE}.
template <typename Use>
void with_value(std::string_view value, Use&& use) {
    json::parse_object(json::Text("{\"a\":" + std::string(value) + "}"),
                       [&](std::string_view, json::Value item) { use(item); });
}

std::string string_in(std::string_view value) {
    std::string result;
    with_value(value, [&](json::Value item) {
        std::string scratch;
        result = item.string(scratch);
    });
    return result;
}

std::optional<std::uint64_t> integer_in(std::string_view value) {
    std::optional<std::uint64_t> result;
    with_value(value, [&](json::Value item) { result = item.unsigned_integer(); });
    return result;
}

}  // namespace

TEST_CASE("a string is decoded") {
    CHECK(string_in(R"("")").empty());
    CHECK(string_in(R"("a.b")") == "a.b");
    CHECK(string_in(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
    CHECK(string_in(R"("x\u0041\u00e9\u20AC\ud83e\udd17y")") == "xA\u00e9\u20AC\U0001F917y");
    CHECK(string_in(R"("a\u0000b")") == std::string("a\0b", 3));
    CHECK(string_in("\"\xF0\x9F\xA4\x97\"") == "\U0001F917");
    CHECK(string_in("\"]}:,\"") == "]}:,");
}

TEST_CASE("keys are decoded and come in the order of the text") {
    std::string keys;
    json::parse_object(json::Text(R"({"z":1,"\u0061":[],"z":{},"":"x"})"),
                       [&](std::string_view key, json::Value value) {
                           keys += std::string(key) + ';';
                           value.validate();
                       });
    CHECK(keys == "z;a;z;;");
}

TEST_CASE("an integer of 0 to 2^64-1 is read exactly") {
    CHECK(integer_in("0") == 0U);
    CHECK(integer_in("42") == 42U);
    CHECK(integer_in("9007199254740993") == 9007199254740993U);
    CHECK(integer_in("9223372036854775808") == 9223372036854775808U);
    CHECK(integer_in("18446744073709551615") == 18446744073709551615U);
}

TEST_CASE("any other number is no integer") {
    for (const char* value : {"18446744073709551616", "18446744073709551625", "99999999999999999999", "-1", "-0", "1.0",
                              "0.0", "1e0", "1E2", "340282366920938463463374607431768211456"}) {
        INFO(value);
        CHECK_FALSE(integer_in(value).has_value());
    }
}

TEST_CASE("asking for what a value is not is a syntax error") {
    std::string scratch;
    for (const char* value : {"1", "null", "true", "[]", "{}"}) {
        INFO(value);
        CHECK_THROWS_AS(with_value(value, [&](json::Value item) { item.string(scratch); }), json::SyntaxError);
    }
    for (const char* value : {"\"1\"", "null", "true", "[]", "{}", "01", "1x"}) {
        INFO(value);
        CHECK_THROWS_AS(integer_in(value), json::SyntaxError);
    }
    for (const char* value : {"1", "\"\"", "null", "[]"}) {
        INFO(value);
        CHECK_THROWS_AS(with_value(value, [](json::Value item) { item.fields([](std::string_view, json::Value) {}); }),
                        json::SyntaxError);
    }
    for (const char* value : {"1", "\"\"", "null", "{}"}) {
        INFO(value);
        CHECK_THROWS_AS(with_value(value, [](json::Value item) { item.elements([](json::Value) {}); }),
                        json::SyntaxError);
    }
}

TEST_CASE("a value knows its type") {
    const auto type_of = [](std::string_view value) {
        std::optional<json::Type> type;
        with_value(value, [&](json::Value item) {
            type = item.type();
            item.validate();
        });
        return type;
    };
    CHECK(type_of("null") == json::Type::null);
    CHECK(type_of("true") == json::Type::boolean);
    CHECK(type_of("false") == json::Type::boolean);
    CHECK(type_of("-1.5") == json::Type::number);
    CHECK(type_of("\"null\"") == json::Type::string);
    CHECK(type_of("[null]") == json::Type::array);
    CHECK(type_of("{}") == json::Type::object);
}

TEST_CASE("elements come in order") {
    std::string all;
    with_value("[3,1,18446744073709551615,2]", [&](json::Value list) {
        list.elements([&](json::Value item) { all += std::to_string(item.unsigned_integer().value()) + ' '; });
    });
    CHECK(all == "3 1 18446744073709551615 2 ");
}

TEST_CASE("only null is null") {
    const auto is_null = [](std::string_view value) {
        bool result = false;
        with_value(value, [&](json::Value item) {
            result = item.is_null();
            if (!result) item.validate();
        });
        return result;
    };
    CHECK(is_null("null"));
    CHECK_FALSE(is_null("0"));
    CHECK_FALSE(is_null("\"null\""));
    CHECK_FALSE(is_null("[]"));
    CHECK_THROWS_AS(is_null("nul"), json::SyntaxError);
    CHECK_THROWS_AS(is_null("nullnull"), json::SyntaxError);
}
