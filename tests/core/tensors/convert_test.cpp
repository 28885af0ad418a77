// convert(). Each rounding of F32 to F16 is compared with NumPy's in tests/consumers/export_test.py.

#include "core/tensors/convert.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/tensors/widen.hpp"
#include "tests/support/catch.hpp"

using namespace tensorfs;

namespace {

template <typename Out, typename In>
std::vector<Out> converted(Dtype from, const std::vector<In>& in, Dtype to, std::uint64_t* overflows = nullptr) {
    std::vector<Out> out(in.size());
    const auto* const packed = reinterpret_cast<const std::byte*>(in.data());
    const std::uint64_t found = convert(from, packed, in.size(), to, reinterpret_cast<std::byte*>(out.data()));
    if (overflows != nullptr) *overflows = found;
    return out;
}

/// The finite numbers of a 16-bit type without a sign, in order, and behind them the one that would be next: a number
/// of that half way to it and more is infinite.
std::vector<double> numbers_of(Dtype dtype) {
    const std::uint16_t infinity = dtype == Dtype::F16 ? 0x7C00 : 0x7F80;
    std::vector<double> numbers;
    for (std::uint16_t code = 0; code < infinity; ++code) {
        float value = 0;
        widen(dtype, reinterpret_cast<const std::byte*>(&code), 1, &value);
        numbers.push_back(static_cast<double>(value));
    }
    numbers.push_back(dtype == Dtype::F16 ? 0x1p16 : 0x1p128);
    return numbers;
}

/// Checks numbers at and beside the middle between each two neighbours, and the neighbours: as rounding goes up with
/// what is rounded, that is all numbers.
template <typename In>
void check_every_rounding(Dtype from, Dtype to) {
    const std::vector<double> numbers = numbers_of(to);
    std::vector<In> in;
    std::vector<std::uint16_t> wanted;
    const auto add = [&](In value, std::size_t code) {
        in.push_back(value);
        wanted.push_back(static_cast<std::uint16_t>(code));
        in.push_back(-value);
        wanted.push_back(static_cast<std::uint16_t>(code | 0x8000));
    };
    const In largest = std::numeric_limits<In>::max();
    for (std::size_t code = 0; code + 1 < numbers.size(); ++code) {
        const auto middle = static_cast<In>((numbers[code] + numbers[code + 1]) / 2);
        add(static_cast<In>(numbers[code]), code);
        add(std::nextafter(middle, In{0}), code);
        add(middle, code + code % 2);
        add(std::nextafter(middle, largest), code + 1);
    }
    std::uint64_t overflows = 0;
    CHECK(converted<std::uint16_t>(from, in, to, &overflows) == wanted);
    CHECK(overflows == 2 * 2);  // the last middle, and what is beyond it
}

}  // namespace

TEST_CASE("each number that lies at or beside the middle between two is rounded to the nearest, and ties to even") {
    SECTION("F32 to F16") { check_every_rounding<float>(Dtype::F32, Dtype::F16); }
    SECTION("F32 to BF16") { check_every_rounding<float>(Dtype::F32, Dtype::BF16); }
    SECTION("F64 to F16") { check_every_rounding<double>(Dtype::F64, Dtype::F16); }
    SECTION("F64 to BF16") { check_every_rounding<double>(Dtype::F64, Dtype::BF16); }
}

TEST_CASE("F64 is rounded once, not by way of F32") {
    // A little more than the middle between two halves: as a float32, it is the middle, which would round down.
    const std::vector<double> in{1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-40, -(1 + 0x1p-11 + 0x1p-40)};
    const std::vector<std::uint16_t> halves = converted<std::uint16_t>(Dtype::F64, in, Dtype::F16);
    CHECK(halves[0] == 0x3C01);
    CHECK(halves[2] == 0xBC01);
    CHECK(converted<std::uint16_t>(Dtype::F64, in, Dtype::BF16)[1] == 0x3F81);
}

TEST_CASE("infinities, NaNs and signs of zero are kept, and only numbers that become infinities are counted") {
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> in{infinity, -infinity, nan, -nan, 0.0F, -0.0F, 65520.0F, 65519.0F, -1e30F};
    std::uint64_t overflows = 0;
    CHECK(converted<std::uint16_t>(Dtype::F32, in, Dtype::F16, &overflows) ==
          std::vector<std::uint16_t>{0x7C00, 0xFC00, 0x7E00, 0xFE00, 0, 0x8000, 0x7C00, 0x7BFF, 0xFC00});
    CHECK(overflows == 2);
    CHECK(converted<std::uint16_t>(Dtype::F32, in, Dtype::BF16, &overflows)[2] == 0x7FC0);
    CHECK(overflows == 0);
    const std::vector<double> large{1e300, -1e300, std::numeric_limits<double>::infinity(), 0x1.ffffffp127};
    CHECK(converted<float>(Dtype::F64, large, Dtype::F32, &overflows) ==
          std::vector<float>{infinity, -infinity, infinity, infinity});
    CHECK(overflows == 3);
    CHECK(converted<std::uint16_t>(Dtype::F64, large, Dtype::BF16, &overflows) ==
          std::vector<std::uint16_t>{0x7F80, 0xFF80, 0x7F80, 0x7F80});
    CHECK(overflows == 3);
}

TEST_CASE("no NaN becomes an infinity, whatever its mantissa") {
    std::vector<std::uint32_t> in;
    for (std::uint32_t bit = 0; bit < 23; ++bit)
        in.insert(in.end(), {0x7F800000U | 1U << bit, 0xFF800000U | 1U << bit});
    for (const std::uint16_t half : converted<std::uint16_t>(Dtype::F32, in, Dtype::F16))
        CHECK((half & 0x7FFF) > 0x7C00);
    for (const std::uint16_t half : converted<std::uint16_t>(Dtype::F32, in, Dtype::BF16)) {
        CHECK((half & 0x7FFF) > 0x7F80);
    }
    std::vector<std::uint64_t> wide;
    for (std::uint32_t bit = 0; bit < 52; ++bit) wide.push_back(0x7FF0000000000000U | std::uint64_t{1} << bit);
    for (const std::uint16_t half : converted<std::uint16_t>(Dtype::F64, wide, Dtype::F16)) {
        CHECK((half & 0x7FFF) > 0x7C00);
    }
}

TEST_CASE("narrow floats and quantised types are converted through their values") {
    std::mt19937 random(1);
    for (std::size_t i = 0; i < dtype_count; ++i) {
        const auto from = static_cast<Dtype>(i);
        if (!can_widen(from)) continue;
        INFO(to_string(from));
        const Block block = block_of(from);
        const std::size_t elements = 3 * 2048 + std::size_t{block.elements} * 3;  // more than is converted at once
        std::vector<std::byte> packed(elements / block.elements * block.nbytes);
        for (std::byte& byte : packed) byte = static_cast<std::byte>(random());
        std::vector<float> wide(elements);
        widen(from, packed.data(), elements, wide.data());
        std::vector<float> same(elements);
        CHECK(convert(from, packed.data(), elements, Dtype::F32, reinterpret_cast<std::byte*>(same.data())) == 0);
        CHECK(std::memcmp(wide.data(), same.data(), elements * sizeof(float)) == 0);
        for (const Dtype to : {Dtype::F16, Dtype::BF16}) {
            std::uint64_t overflows = 0;
            const auto wanted = converted<std::uint16_t>(Dtype::F32, wide, to, &overflows);
            std::vector<std::uint16_t> found(elements);
            CHECK(convert(from, packed.data(), elements, to, reinterpret_cast<std::byte*>(found.data())) == overflows);
            CHECK(found == wanted);
        }
    }
}

TEST_CASE("which types can be converted") {
    for (const Dtype from : {Dtype::F64, Dtype::F32, Dtype::F16, Dtype::BF16, Dtype::F8_E4M3, Dtype::Q4_K})
        CHECK(can_convert(from));
    for (const Dtype from : {Dtype::BOOL, Dtype::U8, Dtype::I64, Dtype::C64}) CHECK_FALSE(can_convert(from));
    CHECK(can_convert_to(Dtype::F16));
    CHECK_FALSE(can_convert_to(Dtype::F64));
    CHECK_FALSE(can_convert_to(Dtype::F8_E5M2));
}
