// `tensorfs diff`.

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/core/formats/gguf/gguf_file.hpp"
#include "tests/support/contents.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs::tests;

namespace {

std::string floats(const std::vector<float>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

template <typename Number>
std::string numbers(const std::vector<Number>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)};
}

/// Writes two models and compares them.
Outcome diff(const std::vector<Sample>& a, const std::vector<Sample>& b, const std::vector<std::string>& flags = {}) {
    const TemporaryFolder folder;
    write_file(folder / "a.safetensors", safetensors_file(a));
    write_file(folder / "b.safetensors", safetensors_file(b));
    std::vector<std::string> words{"diff", folder / "a.safetensors", folder / "b.safetensors"};
    words.insert(words.end(), flags.begin(), flags.end());
    Outcome outcome = run_program(words);
    for (std::size_t at = 0; (at = outcome.out.find(folder.path().string(), at)) != std::string::npos;) {
        outcome.out.erase(at, folder.path().string().size() + 1);
    }
    return outcome;
}

nlohmann::json json_diff(const std::vector<Sample>& a, const std::vector<Sample>& b) {
    return nlohmann::json::parse(diff(a, b, {"--json"}).out);
}

bool is_near(double number, double expected) { return std::fabs(number - expected) < 1e-12; }

/// A GGUF file of one matrix, x.
std::string gguf_of(std::uint32_t type, std::uint64_t rows, std::uint64_t columns, const std::string& data) {
    return GgufFile().tensor("x", {columns, rows}, type, 0).bytes(data);
}

/// A block of Q8_0: the scale 0.5 as F16, and the codes 0 to 31.
std::string q8_0_block() {
    std::string block("\x00\x38", 2);
    for (char code = 0; code < 32; ++code) block += code;
    return block;
}

}  // namespace

TEST_CASE("models that hold the same do not differ, wherever it lies") {
    const std::string bytes = sample_bytes(3'000'000, 1);
    const Outcome same = diff({{"x", "U8", {3'000'000}, bytes}, {"y", "F32", {1}, floats({1})}},
                              {{"y", "F32", {1}, floats({1})}, {"x", "U8", {3'000'000}, bytes}});
    CHECK(same.code == 0);
    CHECK(same.out.empty());
    CHECK(same.err.empty());
}

TEST_CASE("what is in one model only, or of another type or shape, is listed by name") {
    const Outcome different = diff({{"a", "U8", {1}, "x"}, {"d", "I8", {2}, "xy"}, {"s", "U8", {2, 1}, "xy"}},
                                   {{"b", "U8", {1}, "x"}, {"d", "U8", {2}, "xy"}, {"s", "U8", {1, 2}, "xy"}});
    CHECK(different.code == 1);
    CHECK(different.out ==
          "only in a.safetensors: a\nonly in b.safetensors: b\nd: dtype I8 and U8\ns: shape [2,1] and [1,2]\n");
}

TEST_CASE("of numbers that differ it is told how many, and of floats by how much") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Outcome different = diff({{"bf", "BF16", {2}, std::string("\x80\x3F\x80\x3F", 4)},
                                    {"f", "F32", {4}, floats({1, 2, 3, 4})},
                                    {"i", "I16", {2}, "abcd"},
                                    {"n", "F32", {2}, floats({nan, 1})}},
                                   {{"bf", "BF16", {2}, std::string("\x80\x3F\x00\x40", 4)},
                                    {"f", "F32", {4}, floats({1, 2.5, 3, 2})},
                                    {"i", "I16", {2}, "abce"},
                                    {"n", "F32", {2}, floats({1, 1})}});
    CHECK(different.code == 1);
    CHECK(different.out ==
          "bf: 1 of 2 elements differ, by 1 at most and 0.5 on average\n"
          "f: 2 of 4 elements differ, by 2 at most and 0.625 on average\n"
          "i: 1 of 2 elements differ\n"
          "n: 1 of 2 elements differ, by 0 at most and 0 on average, 1 of them NaN\n");
}

TEST_CASE("a difference anywhere in a large tensor is found") {
    constexpr std::size_t size = 5'000'000;
    const std::string bytes = sample_bytes(size, 1);
    for (const std::size_t at : {std::size_t{0}, std::size_t{262'143}, std::size_t{262'144}, std::size_t{786'431},
                                 std::size_t{786'432}, size - 1}) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        const Outcome different = diff({{"x", "U8", {size}, bytes}}, {{"x", "U8", {size}, changed}});
        CHECK(different.code == 1);
        CHECK(different.out == "x: 1 of 5,000,000 elements differ\n");
    }
}

TEST_CASE("zeros of both signs differ in their bits, and by nothing") {
    const Outcome different = diff({{"z", "F32", {1}, floats({0.0F})}}, {{"z", "F32", {1}, floats({-0.0F})}});
    CHECK(different.code == 1);
    CHECK(different.out == "z: 1 of 1 element differ, by 0 at most and 0 on average\n");
}

TEST_CASE("NaNs of other bits differ, in every type that has them") {
    const auto differs = [](const std::string& dtype, const std::string& a, const std::string& b) {
        INFO(dtype);
        const Outcome different = diff({{"n", dtype, {1}, a}}, {{"n", dtype, {1}, b}});
        CHECK(different.code == 1);
        CHECK(contains(different.out, "n: 1 of 1 element differ"));
        CHECK(contains(different.out, "1 of them NaN"));
    };
    differs("BF16", "\x81\x7F", "\xC1\x7F");
    differs("F16", "\x01\x7C", std::string("\x01\x7E", 2));
    differs("F8_E5M2", "\x7D", "\x7F");
    differs("F32", std::string("\x01\x00\x80\x7F", 4), std::string("\x01\x00\xC0\x7F", 4));
    differs("C64", std::string("\x01\x00\x80\x7F\0\0\0\0", 8), std::string("\x01\x00\xC0\x7F\0\0\0\0", 8));
}

TEST_CASE("narrow, wide and complex floats differ by what their values differ") {
    const auto line = [](const std::string& dtype, std::uint64_t count, const std::string& a, const std::string& b) {
        return diff({{"x", dtype, {count}, a}}, {{"x", dtype, {count}, b}}).out;
    };
    CHECK(line("F4", 2, "\x21", "\x31") == "x: 1 of 2 elements differ, by 0.5 at most and 0.25 on average\n");
    CHECK(line("F8_E4M3", 1, "\x38", "\x40") == "x: 1 of 1 element differ, by 1 at most and 1 on average\n");
    CHECK(line("C64", 1, floats({1, 2}), floats({4, 6})) ==
          "x: 1 of 1 element differ, by 5 at most and 5 on average\n");
}

TEST_CASE("of two types that differ, the numbers are compared, and what differs is a table") {
    // 1, 2, 3 and 4 in F16; the first is 1.5 in F32.
    const std::string half("\x00\x3C\x00\x40\x00\x42\x00\x44", 8);
    const Outcome different = diff({{"exact", "F16", {4}, half}, {"long.name", "F32", {4}, floats({1.5, 2, 3, 4})}},
                                   {{"exact", "F32", {4}, floats({1, 2, 3, 4})}, {"long.name", "F16", {4}, half}});
    CHECK(different.code == 1);
    CHECK(different.out ==
          "exact: dtype F16 and F32\n"
          "\n"
          "tensor     dtype  other  elements  largest   mean   rms  relative  NaN\n"
          "long.name  F32    F16           4      0.5  0.125  0.25   8.944 %    0\n");
}

TEST_CASE("the price of a quantisation is told against the numbers before it") {
    std::vector<float> values;
    for (int i = 0; i < 32; ++i) values.push_back(static_cast<float>(i) * 0.5F + (i < 16 ? 0.25F : 0.0F));
    const TemporaryFolder folder;
    write_file(folder / "f32.gguf", gguf_of(gguf_tensor_f32, 1, 32, floats(values)));
    write_file(folder / "q8_0.gguf", gguf_of(gguf_tensor_q8_0, 1, 32, q8_0_block()));
    const Outcome text = run_program({"diff", folder / "f32.gguf", folder / "q8_0.gguf"});
    CHECK(text.code == 1);
    CHECK(text.out ==
          "tensor  dtype  other  elements  largest   mean     rms  relative  NaN\n"
          "x       F32    Q8_0         32     0.25  0.125  0.1768   1.948 %    0\n");

    const Outcome json = run_program({"diff", folder / "f32.gguf", folder / "q8_0.gguf", "--json"});
    CHECK(json.code == 1);
    const auto tensor = nlohmann::json::parse(json.out).at("tensors").at(0);
    CHECK(tensor.at("dtype") == nlohmann::json::parse(R"(["F32","Q8_0"])"));
    CHECK(tensor.at("shape") == nlohmann::json::parse("[[1,32],[1,32]]"));
    CHECK(tensor.at("elements") == 32);
    CHECK(tensor.at("differing") == 16);
    CHECK(is_near(tensor.at("rms"), std::sqrt(1.0 / 32)));
    CHECK(is_near(tensor.at("relative_rms"), std::sqrt(1.0 / 2635)));
}

TEST_CASE("large quantised tensors of one type are compared in whole blocks") {
    constexpr std::size_t blocks = 32'768;  // four stretches
    std::string bytes;
    for (std::size_t i = 0; i < blocks; ++i) bytes += q8_0_block();
    const TemporaryFolder folder;
    write_file(folder / "a.gguf", gguf_of(gguf_tensor_q8_0, 64, 32 * blocks / 64, bytes));
    for (const std::size_t block : {std::size_t{0}, blocks / 4 - 1, blocks / 4, blocks / 2 + 5, blocks - 1}) {
        INFO(block);
        std::string changed = bytes;
        changed[block * 34 + 33] = 33;  // the code was 31, and is worth 0.5
        write_file(folder / "b.gguf", gguf_of(gguf_tensor_q8_0, 64, 32 * blocks / 64, changed));
        const Outcome different = run_program({"diff", folder / "a.gguf", folder / "b.gguf"});
        CHECK(different.code == 1);
        CHECK(different.out == "x: 1 of 1,048,576 elements differ, by 1 at most and 9.53674e-07 on average\n");
    }
}

TEST_CASE("large tensors of different types are compared to their last element") {
    constexpr std::size_t size = 600'001;
    std::vector<float> values(size, 2);
    const std::string twos(size, 2);
    CHECK(diff({{"x", "F32", {size}, floats(values)}}, {{"x", "U8", {size}, twos}}).out == "x: dtype F32 and U8\n");
    for (const std::size_t at : {std::size_t{262'143}, std::size_t{262'144}, size - 1}) {
        values[at] = 3;
        const auto tensor =
            json_diff({{"x", "F32", {size}, floats(values)}}, {{"x", "U8", {size}, twos}}).at("tensors").at(0);
        CHECK(tensor.at("elements") == size);
        CHECK(tensor.at("differing") == 1);
        CHECK(tensor.at("largest") == 1.0);
        values[at] = 2;
    }
}

TEST_CASE("NaN in one of two types is counted apart, and in both is the same") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    // NaN, 1, infinity, NaN
    const std::string half("\x00\x7E\x00\x3C\x00\x7C\x00\x7E", 8);
    const auto tensor =
        json_diff({{"n", "F32", {4}, floats({nan, 3, infinity, 5})}}, {{"n", "F16", {4}, half}}).at("tensors").at(0);
    CHECK(tensor.at("differing") == 2);
    CHECK(tensor.at("nan") == 1);
    CHECK(tensor.at("largest") == 2.0);
    CHECK(is_near(tensor.at("mean"), 2.0 / 3));
    CHECK(is_near(tensor.at("relative_rms"), 2.0 / 3));
}

TEST_CASE("every plain type has numbers that are compared with those of another") {
    const std::vector<std::pair<std::string, std::string>> ones_and_zeros{
        {"BOOL", std::string("\x01\x00\x01\x01", 4)},
        {"U8", std::string("\x01\x00\x01\x01", 4)},
        {"I8", std::string("\x01\x00\x01\x01", 4)},
        {"U16", numbers<std::uint16_t>({1, 0, 1, 1})},
        {"I16", numbers<std::int16_t>({1, 0, 1, 1})},
        {"U32", numbers<std::uint32_t>({1, 0, 1, 1})},
        {"I32", numbers<std::int32_t>({1, 0, 1, 1})},
        {"U64", numbers<std::uint64_t>({1, 0, 1, 1})},
        {"I64", numbers<std::int64_t>({1, 0, 1, 1})},
        {"F64", numbers<double>({1, 0, 1, 1})},
        {"BF16", std::string("\x80\x3F\x00\x00\x80\x3F\x80\x3F", 8)},
        {"F8_E4M3", std::string("\x38\x00\x38\x38", 4)},
        {"F4", std::string("\x02\x22", 2)},
        {"F6_E2M3", std::string("\x08\x80\x20", 3)},
    };
    for (const auto& [dtype, bytes] : ones_and_zeros) {
        INFO(dtype);
        CHECK(diff({{"x", dtype, {4}, bytes}}, {{"x", "F32", {4}, floats({1, 0, 1, 1})}}).out ==
              "x: dtype " + dtype + " and F32\n");
        const auto tensor =
            json_diff({{"x", dtype, {4}, bytes}}, {{"x", "F32", {4}, floats({1, 0, 1, -3})}}).at("tensors").at(0);
        CHECK(tensor.at("differing") == 1);
        CHECK(tensor.at("largest") == 4.0);
    }
    CHECK(diff({{"x", "I8", {1}, "\xFF"}}, {{"x", "F32", {1}, floats({-1})}}).out == "x: dtype I8 and F32\n");
}

TEST_CASE("complex numbers are compared with no other type, and other shapes with none") {
    const std::vector<Sample> a{{"c", "C64", {1}, floats({1, 0})}, {"s", "F32", {2}, floats({1, 2})}};
    const std::vector<Sample> b{{"c", "F32", {1}, floats({1})}, {"s", "U8", {2, 1}, "ab"}};
    const Outcome text = diff(a, b);
    CHECK(text.code == 1);
    CHECK(text.out ==
          "c: dtype C64 and F32, which cannot be compared\n"
          "s: dtype F32 and U8\n"
          "s: shape [2] and [2,1]\n");
    for (const auto& tensor : json_diff(a, b).at("tensors")) {
        for (const char* key : {"elements", "differing", "nan", "largest", "mean", "rms", "relative_rms"}) {
            INFO(tensor.at("name") << " " << key);
            CHECK(tensor.at(key).is_null());
        }
    }
}

TEST_CASE("as JSON, what differs has its measures whatever its type, and what is the same is left out") {
    const Outcome different =
        diff({{"a", "U8", {1}, "x"}, {"i", "I16", {2}, numbers<std::int16_t>({3, 4})}},
             {{"b\n", "U8", {1}, "x"}, {"i", "I16", {2}, numbers<std::int16_t>({3, 9})}}, {"--json"});
    CHECK(different.code == 1);
    const auto all = nlohmann::json::parse(different.out);
    CHECK(all.at("only_in_first") == nlohmann::json::parse(R"(["a"])"));
    CHECK(all.at("only_in_second") == nlohmann::json::parse(R"(["b\n"])"));
    REQUIRE(all.at("tensors").size() == 1);
    const auto& tensor = all.at("tensors").at(0);
    CHECK(tensor.at("name") == "i");
    CHECK(tensor.at("differing") == 1);
    CHECK(tensor.at("mean") == 2.5);
    CHECK(is_near(tensor.at("rms"), 5 / std::sqrt(2.0)));
    CHECK(is_near(tensor.at("relative_rms"), 1));

    const Outcome same = diff({{"a", "U8", {1}, "x"}}, {{"a", "U8", {1}, "x"}}, {"--json"});
    CHECK(same.code == 0);
    CHECK(nlohmann::json::parse(same.out) ==
          nlohmann::json::parse(R"({"only_in_first":[],"only_in_second":[],"tensors":[]})"));
}

TEST_CASE("trouble with either model is 2, as diff has it") {
    const TemporaryFolder folder;
    write_file(folder / "a.safetensors", safetensors_file({{"a", "U8", {1}, "x"}}));
    write_file(folder / "bad.safetensors", "bad");
    CHECK(run_program({"diff", folder / "a.safetensors", folder / "none"}).code == 2);
    CHECK(run_program({"diff", folder / "bad.safetensors", folder / "a.safetensors"}).code == 2);
    CHECK(run_program({"diff", folder / "a.safetensors"}).code == 2);
}
