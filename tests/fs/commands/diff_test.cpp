// `tensorfs diff`.

#include <cstring>
#include <limits>

#include "tests/support/expect.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs::tests;

namespace {

std::string floats(const std::vector<float>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

/// Writes two models and compares them.
Outcome diff(const std::vector<Sample>& a, const std::vector<Sample>& b) {
    const TemporaryFolder folder;
    write_file(folder / "a.safetensors", safetensors_file(a));
    write_file(folder / "b.safetensors", safetensors_file(b));
    Outcome outcome = run_program({"diff", folder / "a.safetensors", folder / "b.safetensors"});
    for (std::size_t at = 0; (at = outcome.out.find(folder.path().string(), at)) != std::string::npos;) {
        outcome.out.erase(at, folder.path().string().size() + 1);
    }
    return outcome;
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
    for (const std::size_t at : {std::size_t{0}, std::size_t{786'431}, std::size_t{786'432}, size - 1}) {
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

TEST_CASE("trouble with either model is 2, as diff has it") {
    const TemporaryFolder folder;
    write_file(folder / "a.safetensors", safetensors_file({{"a", "U8", {1}, "x"}}));
    write_file(folder / "bad.safetensors", "bad");
    CHECK(run_program({"diff", folder / "a.safetensors", folder / "none"}).code == 2);
    CHECK(run_program({"diff", folder / "bad.safetensors", folder / "a.safetensors"}).code == 2);
    CHECK(run_program({"diff", folder / "a.safetensors"}).code == 2);
}
