#include "core/tensors/widen.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// The values of narrow floats, calculated in double from the fields as the specifications describe
// them, with the special codes written out as their tables have them.

namespace {

/// Of one element.
std::size_t bits(Dtype dtype) { return std::size_t{block_of(dtype).nbytes} * 8 / block_of(dtype).elements; }

enum class Meaning { number, infinity, nan };

/// A format as its specification's table has it: "S.EEEE.MMM".
struct Format {
    Dtype dtype;
    unsigned exponent_bits, mantissa_bits;
    int bias;
    Meaning (*meaning)(unsigned code);
};

Meaning all_numbers(unsigned /*code*/) { return Meaning::number; }
Meaning nan_at_80(unsigned code) { return code == 0x80 ? Meaning::nan : Meaning::number; }

const std::vector<Format> formats{
    {Dtype::BF16, 8, 7, 127,
     [](unsigned code) {
         const unsigned magnitude = code % 0x8000;
         return magnitude < 0x7F80 ? Meaning::number : magnitude == 0x7F80 ? Meaning::infinity : Meaning::nan;
     }},
    {Dtype::F16, 5, 10, 15,
     [](unsigned code) {
         const unsigned magnitude = code % 0x8000;
         return magnitude < 0x7C00 ? Meaning::number : magnitude == 0x7C00 ? Meaning::infinity : Meaning::nan;
     }},
    {Dtype::F8_E5M2, 5, 2, 15,
     [](unsigned code) {
         // OCP OFP8, table 2: infinities S.11111.00, NaNs S.11111.{01, 10, 11}.
         if (code == 0x7C || code == 0xFC) return Meaning::infinity;
         return (code >= 0x7D && code <= 0x7F) || code >= 0xFD ? Meaning::nan : Meaning::number;
     }},
    {Dtype::F8_E4M3, 4, 3, 7,
     [](unsigned code) { return code == 0x7F || code == 0xFF ? Meaning::nan : Meaning::number; }},
    {Dtype::F8_E4M3FNUZ, 4, 3, 8, nan_at_80},
    {Dtype::F8_E5M2FNUZ, 5, 2, 16, nan_at_80},
    {Dtype::F6_E2M3, 2, 3, 1, all_numbers},
    {Dtype::F6_E3M2, 3, 2, 3, all_numbers},
    {Dtype::F4, 2, 1, 1, all_numbers},
};

const std::vector<Dtype> narrow{Dtype::F4,      Dtype::F6_E2M3,     Dtype::F6_E3M2,     Dtype::F8_E5M2, Dtype::F8_E4M3,
                                Dtype::F8_E8M0, Dtype::F8_E4M3FNUZ, Dtype::F8_E5M2FNUZ, Dtype::F16,     Dtype::BF16};

/// Codes packed as a stream of bits, from the lowest of the first byte on.
std::string pack(Dtype dtype, const std::vector<unsigned>& codes) {
    const std::size_t width = bits(dtype);
    std::string packed(codes.size() * width / 8, '\0');
    for (std::size_t bit = 0; bit < packed.size() * 8; ++bit) {
        if ((codes[bit / width] >> bit % width & 1) != 0) packed[bit / 8] |= static_cast<char>(1 << bit % 8);
    }
    return packed;
}

std::vector<float> widened(Dtype dtype, const std::string& packed) {
    std::vector<float> out(packed.size() * 8 / bits(dtype));
    widen(dtype, reinterpret_cast<const std::byte*>(packed.data()), out.size(), out.data());
    return out;
}

/// What each code of a type is widened to.
std::vector<float> all_values(Dtype dtype) {
    std::vector<unsigned> codes(std::size_t{1} << bits(dtype));
    for (unsigned code = 0; code < codes.size(); ++code) codes[code] = code;
    return widened(dtype, pack(dtype, codes));
}

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

double magnitude_of(const Format& format, unsigned code) {
    const double steps = std::pow(2.0, format.mantissa_bits);
    const unsigned mantissa = code % (1U << format.mantissa_bits);
    const unsigned exponent = code / (1U << format.mantissa_bits) % (1U << format.exponent_bits);
    if (exponent == 0) return std::pow(2.0, 1 - format.bias) * (0 + mantissa / steps);
    return std::pow(2.0, static_cast<int>(exponent) - format.bias) * (1 + mantissa / steps);
}

}  // namespace

TEST_CASE("every code of every narrow float is widened to the value that its specification gives") {
    for (const Format& format : formats) {
        const std::vector<float> values = all_values(format.dtype);
        REQUIRE(values.size() == std::size_t{1} << (1 + format.exponent_bits + format.mantissa_bits));
        for (unsigned code = 0; code < values.size(); ++code) {
            INFO(to_string(format.dtype) << " code " << code);
            const float value = values[code];
            const bool negative = code >= values.size() / 2;
            switch (format.meaning(code)) {
                case Meaning::nan: REQUIRE(std::isnan(value)); break;
                case Meaning::infinity: REQUIRE(std::isinf(value)); break;
                case Meaning::number:
                    REQUIRE(std::fabs(static_cast<double>(value)) == magnitude_of(format, code));
                    break;
            }
            REQUIRE(std::signbit(value) == negative);
        }
    }
}

TEST_CASE("every code of F8_E8M0 is a power of two, but for the last, which is no number") {
    const std::vector<float> values = all_values(Dtype::F8_E8M0);
    for (int code = 0; code < 255; ++code) {
        REQUIRE(static_cast<double>(values[static_cast<std::size_t>(code)]) == std::pow(2.0, code - 127));
    }
    CHECK(std::isnan(values[255]));
    CHECK_FALSE(std::signbit(values[255]));
}

TEST_CASE("the largest and the smallest values are those that the specifications name") {
    struct Known {
        Dtype dtype;
        unsigned code;
        double value;
    };
    const std::vector<Known> known{
        {Dtype::BF16, 0x3F80, 1},
        {Dtype::BF16, 0x4049, 3.140625},
        {Dtype::BF16, 0x7F7F, 0x1.FEp127},
        {Dtype::BF16, 0x0001, 0x1p-133},
        {Dtype::F16, 0x3C00, 1},
        {Dtype::F16, 0x7BFF, 65504},
        {Dtype::F16, 0x0400, 0x1p-14},
        {Dtype::F16, 0x03FF, 0x1p-14 - 0x1p-24},
        {Dtype::F16, 0x8001, -0x1p-24},
        {Dtype::F8_E4M3, 0x7E, 448},
        {Dtype::F8_E4M3, 0xFE, -448},
        {Dtype::F8_E4M3, 0x08, 0x1p-6},
        {Dtype::F8_E4M3, 0x07, 0.875 * 0x1p-6},
        {Dtype::F8_E4M3, 0x01, 0x1p-9},
        {Dtype::F8_E5M2, 0x7B, 57344},
        {Dtype::F8_E5M2, 0x04, 0x1p-14},
        {Dtype::F8_E5M2, 0x03, 0.75 * 0x1p-14},
        {Dtype::F8_E5M2, 0x01, 0x1p-16},
        {Dtype::F8_E4M3FNUZ, 0x7F, 240},
        {Dtype::F8_E4M3FNUZ, 0xFF, -240},
        {Dtype::F8_E4M3FNUZ, 0x08, 0x1p-7},
        {Dtype::F8_E4M3FNUZ, 0x01, 0x1p-10},
        {Dtype::F8_E5M2FNUZ, 0x7F, 57344},
        {Dtype::F8_E5M2FNUZ, 0x04, 0x1p-15},
        {Dtype::F8_E5M2FNUZ, 0x01, 0x1p-17},
        {Dtype::F6_E3M2, 0x1F, 28},
        {Dtype::F6_E3M2, 0x04, 0.25},
        {Dtype::F6_E3M2, 0x01, 0.0625},
        {Dtype::F6_E2M3, 0x1F, 7.5},
        {Dtype::F6_E2M3, 0x3F, -7.5},
        {Dtype::F6_E2M3, 0x08, 1},
        {Dtype::F6_E2M3, 0x01, 0.125},
        {Dtype::F8_E8M0, 0x00, 0x1p-127},
        {Dtype::F8_E8M0, 0x7F, 1},
        {Dtype::F8_E8M0, 0xFE, 0x1p127},
    };
    for (const Known& row : known) {
        INFO(to_string(row.dtype) << " code " << row.code);
        CHECK(static_cast<double>(all_values(row.dtype)[row.code]) == row.value);
    }
}

TEST_CASE("the sixteen values of F4 are those of E2M1") {
    const std::vector<float> values = all_values(Dtype::F4);
    const std::vector<float> expected{0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    for (std::size_t code = 0; code < 8; ++code) {
        CHECK(bits_of(values[code]) == bits_of(expected[code]));
        CHECK(bits_of(values[code + 8]) == bits_of(-expected[code]));
    }
}

TEST_CASE("zeros keep their signs, where a type has two") {
    constexpr std::uint32_t minus_zero = 0x80000000;
    for (const Format& format : formats) {
        INFO(to_string(format.dtype));
        const std::vector<float> values = all_values(format.dtype);
        CHECK(bits_of(values[0]) == 0);
        const bool has_two = format.meaning(static_cast<unsigned>(values.size() / 2)) == Meaning::number;
        CHECK((bits_of(values[values.size() / 2]) == minus_zero) == has_two);
    }
}

TEST_CASE("infinities and NaNs of the types that share IEEE's layout keep every bit of their mantissa") {
    const std::vector<std::pair<Dtype, unsigned>> mantissas{{Dtype::BF16, 7}, {Dtype::F16, 10}, {Dtype::F8_E5M2, 2}};
    for (const auto& [dtype, width] : mantissas) {
        const std::vector<float> values = all_values(dtype);
        const auto half = static_cast<std::uint32_t>(values.size() / 2);
        for (std::uint32_t mantissa = 0; mantissa < 1U << width; ++mantissa) {
            const std::uint32_t code = half - (1U << width) + mantissa;
            INFO(to_string(dtype) << " code " << code);
            const std::uint32_t expected = 0x7F800000U + mantissa * (0x800000U >> width);
            REQUIRE(bits_of(values[code]) == expected);
            REQUIRE(bits_of(values[half + code]) == 0x80000000U + expected);
        }
    }
}

TEST_CASE("a NaN of the types without infinities is a quiet one with its sign") {
    constexpr std::uint32_t plus = 0x7FC00000;
    constexpr std::uint32_t minus = 0xFFC00000;
    CHECK(bits_of(all_values(Dtype::F8_E4M3)[0x7F]) == plus);
    CHECK(bits_of(all_values(Dtype::F8_E4M3)[0xFF]) == minus);
    CHECK(bits_of(all_values(Dtype::F8_E4M3FNUZ)[0x80]) == minus);
    CHECK(bits_of(all_values(Dtype::F8_E5M2FNUZ)[0x80]) == minus);
    CHECK(bits_of(all_values(Dtype::F8_E8M0)[0xFF]) == plus);
}

TEST_CASE("of two F4 in a byte, the first is the lower half") {
    CHECK(widened(Dtype::F4, "\x21") == std::vector<float>{0.5F, 1});
    CHECK(widened(Dtype::F4, "\x7F\xE0") == std::vector<float>{-6, 6, 0, -4});
}

TEST_CASE("four F6 are a little-endian number of 24 bits, of which the first has the lowest six") {
    // 0b000100'000011'000010'000001
    CHECK(widened(Dtype::F6_E2M3, "\x81\x30\x10") == std::vector<float>{0.125F, 0.25F, 0.375F, 0.5F});
    CHECK(widened(Dtype::F6_E3M2, "\x81\x30\x10") == std::vector<float>{0.0625F, 0.125F, 0.1875F, 0.25F});
    const std::string first("\x1F\0\0", 3), last("\0\0\xFC", 3);
    CHECK(widened(Dtype::F6_E3M2, first + last) == std::vector<float>{28, 0, 0, 0, 0, 0, 0, -28});
}

TEST_CASE("F16 and BF16 are little-endian") {
    CHECK(widened(Dtype::F16, std::string("\x00\x3C\x01\x3C", 4)) == std::vector<float>{1, 1 + 0x1p-10F});
    CHECK(widened(Dtype::BF16, std::string("\x80\x3F\x81\x3F", 4)) == std::vector<float>{1, 1 + 0x1p-7F});
}

TEST_CASE("elements are widened alike wherever they lie and however many they are, and none behind them") {
    const std::string source = sample_bytes(400, 5);
    for (const Dtype dtype : narrow) {
        const Block unit = block_of(dtype);
        for (std::size_t begin = 0; begin < 17; ++begin) {
            const std::vector<float> all =
                widened(dtype, source.substr(begin, (source.size() - begin) / unit.nbytes * unit.nbytes));
            for (std::size_t groups = 0; groups <= 70; ++groups) {
                INFO(to_string(dtype) << " from byte " << begin << ", " << groups << " groups");
                constexpr float untouched = 1234.5F;
                std::array<float, 70 * 4 + 1> out;
                out.fill(untouched);
                const std::size_t count = groups * unit.elements;
                widen(dtype, reinterpret_cast<const std::byte*>(source.data()) + begin, count, out.data());
                REQUIRE(std::memcmp(out.data(), all.data(), count * sizeof(float)) == 0);
                REQUIRE(out[count] == untouched);
            }
        }
    }
}

TEST_CASE("the floats narrower than 32 bits can be widened, and no other plain type") {
    std::size_t count = 0;
    for (std::size_t i = 0; i < plain_dtype_count; ++i) {
        const auto dtype = static_cast<Dtype>(i);
        INFO(to_string(dtype));
        const bool is_narrow_float = to_string(dtype).find('F') != std::string_view::npos && bits(dtype) < 32;
        CHECK(can_widen(dtype) == is_narrow_float);
        if (can_widen(dtype)) ++count;
    }
    CHECK(count == narrow.size());
}

TEST_CASE("elements fill whole bytes by the two or four where they are narrower than a byte, else one by one") {
    for (std::size_t i = 0; i < plain_dtype_count; ++i) {
        const auto dtype = static_cast<Dtype>(i);
        INFO(to_string(dtype));
        const Block unit = block_of(dtype);
        CHECK(unit.elements == (dtype == Dtype::F4 ? 2 : bits(dtype) == 6 ? 4 : 1));
        CHECK(unit.nbytes * 8 == unit.elements * bits(dtype));
    }
}
