// Against NumPy itself: tests/consumers. Here, what is easily said.

#include "fs/printing/array_text.hpp"

#include <cmath>
#include <cstring>
#include <numeric>

#include "tests/support/catch.hpp"

using namespace tensorfs;

namespace {

using Dims = std::vector<std::uint64_t>;

/// An array of these numbers as text. REQUIRES: all of it is shown.
template <typename Number>
std::string text_of(Dtype dtype, const Dims& shape, const std::vector<Number>& numbers) {
    const Shown shown = shown_of(shape);
    return array_text(dtype, shape, shown, elements_of(dtype, std::as_bytes(std::span(numbers))));
}

}  // namespace

TEST_CASE("numbers of an array have one width, and brackets and lines show its shape") {
    CHECK(text_of<std::int32_t>(Dtype::I32, {3}, {1, -20, 300}) == "[  1 -20 300]");
    CHECK(text_of<std::uint8_t>(Dtype::U8, {2, 2}, {1, 2, 30, 255}) == "[[  1   2]\n [ 30 255]]");
    CHECK(text_of<std::int8_t>(Dtype::I8, {2, 1, 2}, {1, 2, 3, -4}) == "[[[ 1  2]]\n\n [[ 3 -4]]]");
    CHECK(text_of<std::uint8_t>(Dtype::BOOL, {2}, {1, 0}) == "[ True False]");
    CHECK(text_of<std::uint64_t>(Dtype::U64, {1}, {18446744073709551615U}) == "[18446744073709551615]");
}

TEST_CASE("a scalar is a number by itself, and an array without elements is empty brackets") {
    CHECK(text_of<float>(Dtype::F32, {}, {3.5F}) == "3.5");
    CHECK(text_of<float>(Dtype::F32, {}, {-2.0F}) == "-2.0");
    CHECK(text_of<float>(Dtype::F32, {}, {1e-5F}) == "1e-05");
    CHECK(text_of<double>(Dtype::F64, {}, {1.25e20}) == "1.25e+20");
    CHECK(text_of<double>(Dtype::F64, {}, {5e-324}) == "5e-324");
    CHECK(text_of<float>(Dtype::F32, {}, {-HUGE_VALF}) == "-inf");
    CHECK(text_of<float>(Dtype::C64, {}, {1.0F, -2.5F}) == "(1-2.5j)");
    CHECK(text_of<std::int64_t>(Dtype::I64, {}, {-7}) == "-7");
    CHECK(text_of<float>(Dtype::F32, {2, 0}, {}) == "[]");
}

TEST_CASE("real numbers have as many digits as tell them from their neighbours") {
    CHECK(text_of<float>(Dtype::F32, {3}, {0.1F, 2.0F, -0.25F}) == "[ 0.1   2.   -0.25]");
    CHECK(text_of<double>(Dtype::F64, {2}, {0.1, 1.0 / 3}) == "[0.1        0.33333333]");
    CHECK(text_of<float>(Dtype::F32, {2}, {1e10F, 1.0F}) == "[1.e+10 1.e+00]");
    CHECK(text_of<float>(Dtype::F32, {2}, {NAN, 1.5F}) == "[nan 1.5]");
    CHECK(text_of<float>(Dtype::F32, {3}, {-HUGE_VALF, HUGE_VALF, 0.0F}) == "[-inf  inf   0.]");
    // As F16 these are what they were typed as; as float32 they would need more digits.
    CHECK(text_of<float>(Dtype::F16, {2}, {0.0999755859375F, 1.0F}) == "[0.1 1. ]");
    CHECK(text_of<float>(Dtype::F8_E4M3, {2}, {0.1015625F, 448.0F}) == "[1.015625e-01 4.480000e+02]");
    CHECK(text_of<float>(Dtype::C64, {1}, {1.0F, -2.5F}) == "[1.-2.5j]");
}

TEST_CASE("of a large array the first and the last are shown") {
    std::vector<std::int32_t> numbers(1001);
    std::iota(numbers.begin(), numbers.end(), 0);
    const Dims shape{1001};
    const Shown shown = shown_of(shape);
    CHECK(shown.is_shortened);
    CHECK(shown.places == std::vector<Dims>{{0, 1, 2, 998, 999, 1000}});
    std::vector<Element> elements;
    const std::vector<Element> all = elements_of(Dtype::I32, std::as_bytes(std::span(numbers)));
    for (const std::uint64_t place : shown.places[0]) elements.push_back(all[place]);
    CHECK(array_text(Dtype::I32, shape, shown, elements) == "[   0    1    2 ...  998  999 1000]");
    CHECK_FALSE(shown_of(Dims{1000}).is_shortened);
    CHECK(shown_of(Dims{5, 300}).places[0].size() == 5);
    CHECK(shown_of(Dims{3, 0}).elements() == 0);
}

TEST_CASE("long rows are broken at 75 characters") {
    std::vector<std::int32_t> numbers(40, 1000);
    const std::string text = text_of<std::int32_t>(Dtype::I32, {40}, numbers);
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
        CHECK(end - begin <= 75);
        CHECK(end - begin > 65);
        CHECK(text[end + 1] == ' ');
    }
    CHECK(begin > 0);
}
