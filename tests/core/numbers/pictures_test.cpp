#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "core/numbers/heat_map.hpp"
#include "core/numbers/histogram.hpp"
#include "core/numbers/quantiles.hpp"
#include "tests/support/expect.hpp"

using namespace tensorfs;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::vector<double> counting(std::size_t count) {
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), 0.0);
    return values;
}

}  // namespace

TEST_CASE("histogram: each number is in its bin, and the ends belong to it") {
    Histogram histogram(-2, 2, 4);
    histogram.add(std::vector<double>{-2, -1, -0.5, 0, 1.5, 2, 2.5, -3, -infinity, not_a_number});
    CHECK(histogram.counts() == std::vector<std::uint64_t>{1, 2, 1, 2});
    CHECK(histogram.below() == 1);
    CHECK(histogram.above() == 1);
}

TEST_CASE("histogram: a range as wide as double has") {
    const double most = std::numeric_limits<double>::max();
    Histogram histogram(-most, most, 2);
    histogram.add(std::vector<double>{-most, -1e300, 1e300, most, most});
    CHECK(histogram.counts() == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("quantiles: near the truth on any scale") {
    for (const double scale : {1e-300, 1.0, 1e300}) {
        Quantiles quantiles;
        std::vector<double> values = counting(1001);
        for (double& value : values) value = (value - 500) * scale;
        values.push_back(infinity);
        values.push_back(not_a_number);
        quantiles.add(values);
        for (const double part : {0.0, 0.001, 0.25, 0.5, 0.75, 1.0}) {
            const double wanted = (1000 * part - 500) * scale;
            CHECK(std::fabs(quantiles.at(part) - wanted) <= 0.0626 * std::fabs(wanted));
        }
    }
    CHECK(Quantiles().at(0.5) == 0);
}

TEST_CASE("heat map: a matrix that fits has a cell for each element") {
    HeatMap map(2, 3, 10, 10, CellValue::average);
    map.add(0, counting(6));
    REQUIRE(map.height() == 2);
    REQUIRE(map.width() == 3);
    for (std::size_t i = 0; i < 6; ++i) CHECK(map.cell(i / 3, i % 3) == static_cast<double>(i));
}

TEST_CASE("heat map: cells are averages or largest magnitudes, however the elements come") {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (const std::size_t rows : {1U, 5U, 7U, 20U}) {
        for (const std::size_t columns : {1U, 4U, 11U, 33U}) {
            std::vector<double> values(rows * columns);
            for (double& value : values) value = normal(random);
            for (const CellValue kind : {CellValue::average, CellValue::largest}) {
                HeatMap map(rows, columns, 5, 7, kind);
                for (std::size_t at = 0; at < values.size();) {
                    const std::size_t taken = std::min<std::size_t>(1 + random() % 40, values.size() - at);
                    map.add(at, std::span(values).subspan(at, taken));
                    at += taken;
                }
                std::vector<double> sums(map.height() * map.width());
                std::vector<double> counts(sums.size());
                std::vector<double> largest(sums.size());
                for (std::size_t i = 0; i < values.size(); ++i) {
                    const std::size_t y = i / columns * map.height() / rows;
                    const std::size_t cell = y * map.width() + i % columns * map.width() / columns;
                    sums[cell] += values[i];
                    ++counts[cell];
                    if (std::fabs(values[i]) > std::fabs(largest[cell])) largest[cell] = values[i];
                }
                std::size_t differing = 0;
                for (std::size_t cell = 0; cell < sums.size(); ++cell) {
                    const double wanted = kind == CellValue::average ? sums[cell] / counts[cell] : largest[cell];
                    const double found = map.cell(cell / map.width(), cell % map.width());
                    if (!(std::fabs(found - wanted) < 1e-12)) ++differing;
                }
                CHECK(differing == 0);
            }
        }
    }
}

TEST_CASE("heat map: one NaN or infinity marks its cell, and no other") {
    std::vector<double> values(100, 1.0);
    values[0] = infinity;
    values[1] = not_a_number;
    values[99] = -infinity;
    HeatMap map(10, 10, 5, 5, CellValue::average);
    map.add(0, values);
    CHECK(std::isnan(map.cell(0, 0)));
    CHECK(map.cell(4, 4) == -infinity);
    CHECK(map.cell(2, 2) == 1);
    CHECK(map.limit() == 1);
}

TEST_CASE("heat map: the scale leaves outliers out and all else in") {
    std::vector<double> values(10'000, 0.5);
    values[7] = -0.9;
    HeatMap calm(100, 100, 100, 100, CellValue::average);
    calm.add(0, values);
    CHECK(calm.limit() == 0.9);
    values[7] = -1e30;
    HeatMap wild(100, 100, 100, 100, CellValue::average);
    wild.add(0, values);
    CHECK(wild.limit() == 0.75);

    HeatMap zeros(10, 10, 10, 10, CellValue::largest);
    zeros.add(0, std::vector<double>(100, 0.0));
    CHECK(zeros.limit() == 0);
    HeatMap nothing(1, 2, 10, 10, CellValue::average);
    nothing.add(0, std::vector<double>{not_a_number, infinity});
    CHECK(nothing.limit() == 0);
}
