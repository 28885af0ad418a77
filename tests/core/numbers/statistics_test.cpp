#include "core/numbers/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/numbers/numbers.hpp"
#include "core/numbers/summary.hpp"
#include "tests/core/tensors/blocks.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <typename Value>
Statistics of(Dtype dtype, const std::vector<Value>& values) {
    return statistics_of(dtype, std::as_bytes(std::span(values)));
}

bool is_near(double number, double expected) { return std::fabs(number - expected) <= 1e-12 * std::fabs(expected); }

std::vector<double> random_numbers(std::size_t count, double mean) {
    std::mt19937_64 random(count);
    std::normal_distribution<double> normal(mean, 1);
    std::vector<double> values(count);
    for (double& value : values) value = normal(random);
    return values;
}

/// Mean and deviation by the definition, in more digits.
std::pair<double, double> by_definition(const std::vector<double>& values) {
    long double sum = 0;
    for (const double value : values) sum += value;
    const long double mean = sum / static_cast<long double>(values.size());
    long double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return {static_cast<double>(mean),
            static_cast<double>(std::sqrt(squares / static_cast<long double>(values.size())))};
}

}  // namespace

TEST_CASE("statistics: few numbers") {
    const Statistics statistics = of<float>(Dtype::F32, {1, -2, 0, 5, -0.0F});
    CHECK(statistics.elements == 5);
    CHECK(statistics.zeros == 2);
    CHECK(std::get<double>(*statistics.minimum) == -2);
    CHECK(std::get<double>(*statistics.maximum) == 5);
    CHECK(is_near(statistics.mean(), 0.8));
    CHECK(is_near(statistics.deviation(), std::sqrt(5.36)));
    CHECK_FALSE(statistics.is_constant());
}

TEST_CASE("statistics: what is not finite is counted and changes nothing else") {
    const Statistics statistics =
        of<double>(Dtype::F64, {not_a_number, 3, -infinity, 5, infinity, not_a_number, infinity});
    CHECK(statistics.elements == 7);
    CHECK(statistics.nans == 2);
    CHECK(statistics.infinities == 3);
    CHECK(statistics.negative_infinities == 1);
    CHECK(statistics.finite() == 2);
    CHECK(std::get<double>(*statistics.minimum) == 3);
    CHECK(std::get<double>(*statistics.maximum) == 5);
    CHECK(statistics.mean() == 4);
    CHECK(statistics.deviation() == 1);
}

TEST_CASE("statistics: no numbers, or none that is finite") {
    for (const Statistics& statistics :
         {of<float>(Dtype::F32, {}), of<double>(Dtype::F64, {not_a_number, infinity, not_a_number})}) {
        CHECK(statistics.finite() == 0);
        CHECK_FALSE(statistics.minimum.has_value());
        CHECK_FALSE(statistics.maximum.has_value());
        CHECK(std::isnan(statistics.mean()));
        CHECK(std::isnan(statistics.deviation()));
        CHECK_FALSE(statistics.is_constant());
    }
}

TEST_CASE("statistics: two elements or more of one value are constant") {
    CHECK(of<float>(Dtype::F32, {7, 7, 7}).is_constant());
    CHECK(of<float>(Dtype::F32, {0, -0.0F}).is_constant());
    CHECK_FALSE(of<float>(Dtype::F32, {7}).is_constant());
    CHECK_FALSE(of<double>(Dtype::F64, {7, 7, not_a_number}).is_constant());
    CHECK_FALSE(of<double>(Dtype::F64, {infinity, infinity}).is_constant());
    // As doubles, these two would be one.
    CHECK_FALSE(of<std::uint64_t>(Dtype::U64, {UINT64_MAX, UINT64_MAX - 1}).is_constant());
    CHECK(of<std::uint64_t>(Dtype::U64, {UINT64_MAX, UINT64_MAX}).is_constant());
}

TEST_CASE("statistics: ranges of integers are exact") {
    const Statistics natural = of<std::uint64_t>(Dtype::U64, {UINT64_MAX - 1, (1ULL << 53) + 1});
    CHECK(std::get<std::uint64_t>(*natural.minimum) == (1ULL << 53) + 1);
    CHECK(std::get<std::uint64_t>(*natural.maximum) == UINT64_MAX - 1);
    const Statistics integer = of<std::int64_t>(Dtype::I64, {INT64_MIN, INT64_MAX, 0});
    CHECK(std::get<std::int64_t>(*integer.minimum) == INT64_MIN);
    CHECK(std::get<std::int64_t>(*integer.maximum) == INT64_MAX);
    CHECK(integer.zeros == 1);
    CHECK(std::get<std::uint64_t>(*of<std::uint32_t>(Dtype::U32, {UINT32_MAX, 3}).maximum) == UINT32_MAX);
    CHECK(std::get<std::int64_t>(*of<std::int8_t>(Dtype::I8, {-128, 127}).minimum) == -128);
    CHECK(of<std::uint8_t>(Dtype::BOOL, {0, 1, 255, 1}).mean() == 0.75);
}

TEST_CASE("statistics: of complex numbers, the magnitudes") {
    const auto inf = static_cast<float>(infinity);
    const auto float_nan = static_cast<float>(not_a_number);
    const Statistics statistics = of<float>(Dtype::C64, {3, -4, 0, 0, 1e30F, 0, float_nan, 1, inf, float_nan, 0, -inf});
    CHECK(statistics.elements == 6);
    CHECK(statistics.zeros == 1);
    CHECK(statistics.nans == 1);
    CHECK(statistics.infinities == 2);
    CHECK(statistics.negative_infinities == 0);
    CHECK(is_near(std::get<double>(*statistics.maximum), 1e30F));
}

TEST_CASE("statistics: a large mean costs no digits") {
    const std::vector<double> values = random_numbers(3 * number_batch + 5, 1e8);
    const auto [mean, deviation] = by_definition(values);
    const Statistics statistics = of(Dtype::F64, values);
    CHECK(is_near(statistics.mean(), mean));
    CHECK(std::fabs(statistics.deviation() - deviation) < 1e-7);
}

TEST_CASE("statistics: those of parts make those of the whole") {
    std::vector<double> values = random_numbers(1000, 3);
    values[10] = not_a_number;
    values[500] = infinity;
    values[999] = 0;
    const Statistics whole = of(Dtype::F64, values);
    for (const std::ptrdiff_t cut : {0, 1, 11, 500, 999, 1000}) {
        Statistics sum = of(Dtype::F64, std::vector(values.begin(), values.begin() + cut));
        sum.add(of(Dtype::F64, std::vector(values.begin() + cut, values.end())));
        CHECK(sum.elements == whole.elements);
        CHECK(sum.zeros == whole.zeros);
        CHECK(sum.nans == whole.nans);
        CHECK(sum.infinities == whole.infinities);
        CHECK(sum.minimum == whole.minimum);
        CHECK(sum.maximum == whole.maximum);
        CHECK(is_near(sum.mean(), whole.mean()));
        CHECK(is_near(sum.deviation(), whole.deviation()));
    }
}

TEST_CASE("statistics: every count of numbers, with what is not finite at every place") {
    for (std::size_t count = 1; count < 40; ++count) {
        const std::vector<double> values = random_numbers(count, 0.5);
        const auto [mean, deviation] = by_definition(values);
        const Statistics plain = of(Dtype::F64, values);
        CHECK(is_near(plain.mean(), mean));
        CHECK(std::fabs(plain.deviation() - deviation) < 1e-12);
        CHECK(std::get<double>(*plain.minimum) == *std::min_element(values.begin(), values.end()));
        CHECK(std::get<double>(*plain.maximum) == *std::max_element(values.begin(), values.end()));
        for (std::size_t place = 0; place <= count; ++place) {
            for (const double odd : {not_a_number, infinity, -infinity}) {
                std::vector<double> mixed = values;
                mixed.insert(mixed.begin() + static_cast<std::ptrdiff_t>(place), odd);
                const Statistics statistics = of(Dtype::F64, mixed);
                CHECK(statistics.finite() == count);
                CHECK(statistics.minimum == plain.minimum);
                CHECK(statistics.maximum == plain.maximum);
                CHECK(statistics.mean() == plain.mean());
                CHECK(statistics.deviation() == plain.deviation());
            }
        }
    }
}

TEST_CASE("statistics: numbers beyond a double's range end in infinity, and the range is right all the same") {
    const double most = std::numeric_limits<double>::max();
    const Statistics statistics = of<double>(Dtype::F64, {most, most, 1});
    CHECK(statistics.infinities == 0);
    CHECK(std::get<double>(*statistics.maximum) == most);
    CHECK(std::get<double>(*statistics.minimum) == 1);
    CHECK_FALSE(std::isfinite(statistics.mean()));
}

TEST_CASE("summary: the same figures from every processor's code") {
    for (const std::size_t count : {1U, 7U, 8U, 9U, 2048U, 2047U}) {
        const std::vector<double> doubles = random_numbers(count, 1);
        const std::vector<float> floats(doubles.begin(), doubles.end());
        const auto same = [](const Summary& a, const Summary& b) {
            return a.minimum == b.minimum && a.maximum == b.maximum && a.mean == b.mean && a.squares == b.squares &&
                   a.zeros == b.zeros && a.is_finite == b.is_finite;
        };
        for (const Processor processor : processors_here()) {
            CHECK(same(summarise(processor, doubles.data(), count),
                       summarise(Processor::baseline, doubles.data(), count)));
            CHECK(
                same(summarise(processor, floats.data(), count), summarise(Processor::baseline, floats.data(), count)));
        }
    }
}

TEST_CASE("numbers: as floats and as doubles they are the same, of every type") {
    for (std::size_t i = 0; i < dtype_count; ++i) {
        const auto dtype = static_cast<Dtype>(i);
        if (!fits_float(dtype)) continue;
        const std::string bytes = sample_bytes(nbytes_in_blocks(dtype, 2 * number_batch), i);
        const auto* const at = reinterpret_cast<const std::byte*>(bytes.data());
        std::vector<float> floats(2 * number_batch);
        std::vector<double> doubles(2 * number_batch);
        floats_of(dtype, at, floats.size(), floats.data());
        numbers_of(dtype, at, doubles.size(), doubles.data());
        std::size_t differing = 0;
        for (std::size_t j = 0; j < floats.size(); ++j) {
            const bool same = std::isnan(floats[j]) ? std::isnan(doubles[j]) : double{floats[j]} == doubles[j];
            if (!same) ++differing;
        }
        CHECK(differing == 0);
    }
}
