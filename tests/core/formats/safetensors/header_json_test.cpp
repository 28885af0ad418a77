#include "core/formats/safetensors/safetensors.hpp"
#include "tests/support/expect.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// Rule 5: what the header's JSON may look like. All tensors here are one byte long, or empty.

namespace {

std::vector<Problem> problems_in(std::string_view header, std::uint64_t data_size) {
    return problems_of([&] { safetensors::parse_header(json::Text(header), 8 + header.size() + data_size, "m"); });
}

/// Whether a tensor that is described so is accepted; if not, whether it is refused as it should be:
/// as bad JSON, by its name.
bool accepts(std::string_view tensor, std::uint64_t data_size = 1) {
    const auto problems = problems_in("{\"the.name\":" + std::string(tensor) + "}", data_size);
    if (problems.empty()) return true;
    INFO(tensor);
    CHECK(kinds(problems) == "InvalidHeaderDeserialization ");
    CHECK(contains(problems[0].text, "the.name"));
    return false;
}

bool accepts_metadata(std::string_view metadata) {
    const auto problems = problems_in("{\"__metadata__\":" + std::string(metadata) + "}", 0);
    if (!problems.empty()) CHECK(kinds(problems) == "InvalidHeaderDeserialization ");
    return problems.empty();
}

Metadata metadata_of(std::string_view metadata) {
    const std::string header = "{\"__metadata__\":" + std::string(metadata) + "}";
    return safetensors::parse_header(json::Text(header), 8 + header.size(), "m").metadata;
}

}  // namespace

TEST_CASE("a tensor's fields may stand in any order, with others between") {
    CHECK(accepts(R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})"));
    CHECK(accepts(R"({"data_offsets":[0,1],"x":null,"dtype":"U8","x":{"dtype":"?"},"shape":[1],"y":1e5})"));
    CHECK(accepts(R"({"\u0064type":"\u00558","shape":[1],"data_offsets":[0,1]})"));
}

TEST_CASE("the array form of serde stands for the object") {
    CHECK(accepts(R"(["U8",[1],[0,1]])"));
    CHECK(accepts(R"([{"U8":null},[],[0,1]])"));
    CHECK_FALSE(accepts(R"([])"));
    CHECK_FALSE(accepts(R"(["U8",[1]])"));
    CHECK_FALSE(accepts(R"(["U8",[1],[0,1],null])"));
    CHECK_FALSE(accepts(R"([[1],"U8",[0,1]])"));
}

TEST_CASE("the object form of a serde enum stands for the dtype") {
    CHECK(accepts(R"({"dtype":{"U8":null},"shape":[1],"data_offsets":[0,1]})"));
    CHECK_FALSE(accepts(R"({"dtype":{},"shape":[1],"data_offsets":[0,1]})"));
    CHECK_FALSE(accepts(R"({"dtype":{"U8":1},"shape":[1],"data_offsets":[0,1]})"));
    CHECK_FALSE(accepts(R"({"dtype":{"U8":null,"I8":null},"shape":[1],"data_offsets":[0,1]})"));
    CHECK_FALSE(accepts(R"({"dtype":{"u8":null},"shape":[1],"data_offsets":[0,1]})"));
}

TEST_CASE("a tensor without one of its fields, or with one twice, is refused by name") {
    CHECK_FALSE(accepts(R"({})"));
    CHECK_FALSE(accepts(R"({"shape":[1],"data_offsets":[0,1]})"));
    CHECK_FALSE(accepts(R"({"dtype":"U8","data_offsets":[0,1]})"));
    CHECK_FALSE(accepts(R"({"dtype":"U8","shape":[1]})"));
    CHECK_FALSE(accepts(R"({"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]})"));
    CHECK_FALSE(accepts(R"({"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]})"));
    CHECK_FALSE(accepts(R"({"dtype":"U8","shape":[1],"data_offsets":[0,1],"data_offsets":[0,1]})"));
}

TEST_CASE("what is no JSON within a tensor is refused by the tensor's name") {
    CHECK_FALSE(accepts(R"({"dtype" "U8","shape":[1],"data_offsets":[0,1]})"));
    CHECK_FALSE(accepts(R"({"dtype":"U8","shape":[1 1],"data_offsets":[0,1]})"));
    CHECK_FALSE(accepts(R"({"dtype":"U8","shape":[1],"data_offsets":[0,1],})"));
}

TEST_CASE("what is no tensor is refused by name") {
    for (const char* tensor : {"null", "1", "true", "\"U8\"", "[[[]]]"}) CHECK_FALSE(accepts(tensor));
}

TEST_CASE("a dtype is one of the format's names") {
    for (const char* dtype : {"\"u8\"", "\"\"", "\"U9\"", "\"uint8\"", "null", "1", "[\"U8\"]", "\"U8\\u0000\""}) {
        CHECK_FALSE(accepts("{\"dtype\":" + std::string(dtype) + R"(,"shape":[1],"data_offsets":[0,1]})"));
    }
}

TEST_CASE("a shape is an array of integers of 0 to 2^64-1") {
    CHECK(accepts(R"({"dtype":"U8","shape":[18446744073709551615,0],"data_offsets":[0,0]})", 0));
    for (const char* shape : {"null", "1", "\"1\"", "{}", "[-1]", "[-0]", "[1.0]", "[1e0]", "[\"1\"]", "[null]",
                              "[[1]]", "[18446744073709551616]", "[true]", "[1e999]", "[01]"}) {
        CHECK_FALSE(accepts("{\"dtype\":\"U8\",\"shape\":" + std::string(shape) + R"(,"data_offsets":[0,1]})"));
    }
}

TEST_CASE("data_offsets are two integers of 0 to 2^64-1") {
    for (const char* offsets : {"null", "1", "\"0,1\"", "{}", "[]", "[0]", "[0,1,2]", "[0,1,\"x\"]", "[-0,1]",
                                "[0.0,1]", "[0,1.0]", "[0,\"1\"]", "[0,null]", "[0,18446744073709551616]", "[0,[1]]"}) {
        CHECK_FALSE(accepts(R"({"dtype":"U8","shape":[1],"data_offsets":)" + std::string(offsets) + "}"));
    }
}

TEST_CASE("a field that is passed over is JSON all the same") {
    for (const char* value :
         {"tru", "[1,]", "\"\\uD800\"", "1e999", "01", "{\"a\" 1}", "{\"a\":1,}", "nan", "", "1 2", "[1}"}) {
        INFO(value);
        const std::string header = R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":)" + std::string(value);
        const auto problems = problems_in(header + "}}", 1);
        REQUIRE(kinds(problems) == "InvalidHeaderDeserialization ");
        CHECK(contains(problems[0].text, "near byte "));
    }
}

TEST_CASE("a field that is passed over may be nested as deep as serde lets it, and no deeper") {
    const auto nested = [](int depth, const std::string& innermost) {
        return R"({"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":)" +
               std::string(static_cast<std::size_t>(depth), '[') + innermost +
               std::string(static_cast<std::size_t>(depth), ']') + "}";
    };
    // The header and the tensor are two containers of the 127.
    CHECK(accepts(nested(125, "")));
    CHECK(accepts(nested(125, "1")));
    CHECK(accepts(nested(124, "{}")));
    CHECK_FALSE(accepts(nested(126, "1")));
    CHECK_FALSE(accepts(nested(126, "")));
    CHECK_FALSE(accepts(nested(125, "{}")));
}

TEST_CASE("metadata is null or an object of strings, and stands once") {
    CHECK(accepts_metadata("null"));
    CHECK(accepts_metadata("{}"));
    CHECK(accepts_metadata(R"({"format":"pt"})"));
    for (const char* metadata : {"1", "[]", "\"x\"", "true", "[\"a\",\"b\"]", R"({"a":1})", R"({"a":null})",
                                 R"({"a":{}})", R"({"a":["b"]})", R"({"a":"b","c":true})"}) {
        INFO(metadata);
        CHECK_FALSE(accepts_metadata(metadata));
    }
    CHECK(kinds(problems_in(R"({"__metadata__":{},"__metadata__":{}})", 0)) == "InvalidHeaderDeserialization ");
    CHECK(kinds(problems_in(R"({"__metadata__":null,"\u005f_metadata__":null})", 0)) ==
          "InvalidHeaderDeserialization ");
}

TEST_CASE("metadata keeps each key once, with its last value, in the order of the file") {
    CHECK(metadata_of("null").empty());
    CHECK(metadata_of(R"({"z":"1","a":"2"})") == Metadata{{"z", "1"}, {"a", "2"}});
    CHECK(metadata_of(R"({"a":"1","b":"2","\u0061":"3"})") == Metadata{{"b", "2"}, {"a", "3"}});
    CHECK(metadata_of(R"({"a":"\u00e9\n"})") == Metadata{{"a", "\u00e9\n"}});
}

TEST_CASE("a name may be any text, the empty one included") {
    const std::string header =
        R"({"":["U8",[0],[0,0]],"a\u0000b":["U8",[0],[0,0]],"../\ud83e\udd17":["U8",[0],[0,0]]})";
    const Header read = safetensors::parse_header(json::Text(header), 8 + header.size(), "m");
    REQUIRE(read.tensors.size() == 3);  // empty, so in the order of their names
    CHECK(read.tensors[0].name().empty());
    CHECK(read.tensors[1].name() == "../\U0001F917");
    CHECK(read.tensors[2].name() == std::string_view("a\0b", 3));
}

TEST_CASE("a header is one object") {
    for (const char* header : {"", " ", "[]", "null", "\"{}\"", "{}{}", "{} x", "{", "\xEF\xBB\xBF{}", "{}\v"}) {
        INFO(header);
        CHECK(kinds(problems_in(header, 0)) == "InvalidHeaderDeserialization ");
    }
}
