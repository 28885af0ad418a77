#include "tests/core/formats/gguf/gguf_verdicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <sstream>

#include "core/base/escape.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contents.hpp"
#include "tests/support/sha256.hpp"
#include "tests/support/support.hpp"

namespace tensorfs::tests {
namespace {

std::string hex_of(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

/// A text as the verdicts have it: as it is, or an object that stands for it.
Json described(std::string_view text) {
    if (!is_utf8(text)) return {{"hex", hex_of(text)}};
    if (text.size() > 1000) return {{"bytes", text.size()}, {"sha256", sha256(text)}};
    return std::string(text);
}

std::string described_key(std::string_view key) {
    if (!is_utf8(key)) return "hex:" + hex_of(key);
    return key.size() > 1000 ? "sha256:" + sha256(key) : std::string(key);
}

Json described(const Tensor& tensor) {
    return {{"name", described(tensor.name())},
            {"dtype", to_string(tensor.dtype())},
            {"shape", std::vector<std::uint64_t>(tensor.shape().begin(), tensor.shape().end())},
            {"begin", tensor.offset()},
            {"end", tensor.offset() + tensor.nbytes()}};
}

/// What JSON can hold of a text that a verdict describes: U+FFFD stands for what is not UTF-8.
Json as_json(const Json& text) {
    if (!text.is_object() || !text.contains("hex")) return text;
    const std::string hex = text.at("hex");
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return Json::parse(Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::size_t size_of(std::string_view type) {
    if (type == "bool") return 1;
    return static_cast<std::size_t>(std::stoul(std::string(type.substr(1)))) / 8;
}

/// The elements of an array of numbers as they lie in a file.
std::string raw_bytes(const Json& elements, std::string_view type) {
    std::string bytes;
    for (const Json& element : elements) {
        std::uint64_t bits = 0;
        if (type == "f32") {
            bits = std::bit_cast<std::uint32_t>(element.get<float>());
        } else if (type == "f64") {
            bits = std::bit_cast<std::uint64_t>(element.get<double>());
        } else {
            bits = type.front() == 'i' ? static_cast<std::uint64_t>(element.get<std::int64_t>())
                                       : element.get<std::uint64_t>();
        }
        bytes += little_endian(bits, size_of(type));
    }
    return bytes;
}

/// Compares an element of an array; a float by its value, since JSON has no bits.
void check_element(const Json& element, const Json& expected, std::string_view type);

void check_array(const Json& elements, const Json& expected) {
    const std::string of = expected.at("of");
    REQUIRE(elements.is_array());
    if (expected.contains("value")) {
        REQUIRE(elements.size() == expected.at("value").size());
        for (std::size_t i = 0; i < elements.size(); ++i) check_element(elements[i], expected.at("value")[i], of);
        return;
    }
    CHECK(elements.size() == expected.at("count"));
    for (std::size_t i = 0; i < 4; ++i) check_element(elements.at(i), expected.at("first")[i], of);
    // Of texts that are not UTF-8, JSON has not what the sum is of.
    const bool has_others = std::any_of(expected.at("first").begin(), expected.at("first").end(),
                                        [](const Json& one) { return one.is_object() && one.contains("hex"); });
    if (expected.contains("sha256") && !has_others) CHECK(sha256(elements.dump()) == expected.at("sha256"));
    if (of != "str" && of != "arr" && of != "bool") CHECK(sha256(raw_bytes(elements, of)) == expected.at("raw_sha256"));
}

void check_element(const Json& element, const Json& expected, std::string_view type) {
    if (type == "arr") {
        check_array(element, expected);
    } else if (type == "f32" && expected.is_number()) {
        CHECK(element.get<float>() == expected.get<float>());
    } else {
        CHECK(element == as_json(expected));
    }
}

void check_value(const MetadataValue& value, const Json& expected) {
    const std::string type = expected.at("type");
    if (type == "arr") {
        const auto* const array = std::get_if<JsonArray>(&value);
        REQUIRE(array != nullptr);
        CHECK(std::all_of(array->text.begin(), array->text.end(), [](char c) { return c >= ' ' && c <= '~'; }));
        check_array(Json::parse(array->text), expected);
    } else if (type == "str") {
        REQUIRE(std::holds_alternative<std::string>(value));
        CHECK(described(std::get<std::string>(value)) == expected.at("value"));
    } else if (type == "bool") {
        CHECK(value == MetadataValue(expected.at("value").get<bool>()));
    } else if (type == "f32") {
        REQUIRE(std::holds_alternative<float>(value));
        CHECK(fmt::format("{:08x}", std::bit_cast<std::uint32_t>(std::get<float>(value))) == expected.at("bits"));
    } else if (type == "f64") {
        REQUIRE(std::holds_alternative<double>(value));
        CHECK(fmt::format("{:016x}", std::bit_cast<std::uint64_t>(std::get<double>(value))) == expected.at("bits"));
    } else if (type.front() == 'i') {
        CHECK(value == MetadataValue(expected.at("value").get<std::int64_t>()));
    } else {
        CHECK(value == MetadataValue(expected.at("value").get<std::uint64_t>()));
    }
}

}  // namespace

std::vector<Json> verdicts_in(std::string_view file) {
    std::vector<Json> all;
    const auto corpus = test_data("conformance");
    if (!corpus || !std::filesystem::exists(*corpus / "gguf")) return all;
    std::istringstream lines(read_file(*corpus / "gguf" / file));
    for (std::string line; std::getline(lines, line);) all.push_back(Json::parse(line));
    return all;
}

std::string corpus_path(std::string_view name) {
    return (*test_data("conformance") / "gguf" / std::filesystem::path(name)).string();
}

void check_tensors(const std::vector<Tensor>& tensors, const Json& verdict) {
    Json found = Json::array();
    for (const Tensor& tensor : tensors) found.push_back(described(tensor));
    Json expected = Json::array();
    for (Json tensor : verdict.at("tensors")) {
        tensor.erase("sha256");
        tensor.erase("f32_sha256");
        expected.push_back(std::move(tensor));
    }
    REQUIRE(found.size() == expected.size());
    CHECK(std::is_permutation(found.begin(), found.end(), expected.begin(), expected.end()));
    CHECK(std::is_sorted(tensors.begin(), tensors.end(),
                         [](const Tensor& a, const Tensor& b) { return a.offset() < b.offset(); }));
}

void check_metadata(const Metadata& all, const Json& verdict) {
    const Json& expected = verdict.at("metadata");
    REQUIRE(all.size() == expected.size());
    auto at = expected.begin();
    for (const auto& [key, value] : all) {
        INFO(described_key(key));
        CHECK(described_key(key) == at.key());
        check_value(value, at.value());
        ++at;
    }
}

}  // namespace tensorfs::tests
