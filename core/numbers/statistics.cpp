#include "core/numbers/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/numbers/numbers.hpp"
#include "core/numbers/summary.hpp"

namespace tensorfs {
namespace {

/// Which alternative of Number a type's numbers are.
enum class NumberType : std::uint8_t { real, integer, natural };

NumberType type_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::I8:
        case Dtype::I16:
        case Dtype::I32:
        case Dtype::I64: return NumberType::integer;
        case Dtype::BOOL:
        case Dtype::U8:
        case Dtype::U16:
        case Dtype::U32:
        case Dtype::U64: return NumberType::natural;
        default: return NumberType::real;
    }
}

/// An integer from a double that is near to it: the largest where that was rounded beyond it.
template <typename Integer>
Integer integer_of(double value) {
    constexpr int bits = std::numeric_limits<Integer>::digits;
    return value < std::ldexp(1.0, bits) ? static_cast<Integer>(value) : std::numeric_limits<Integer>::max();
}

Number number_of(Dtype dtype, double value) {
    switch (type_of(dtype)) {
        case NumberType::integer: return integer_of<std::int64_t>(value);
        case NumberType::natural: return integer_of<std::uint64_t>(value);
        default: return value;
    }
}

/// Moves the finite numbers to the front, counts the others, and says how many those are.
template <typename Value>
std::size_t keep_finite(Value* values, std::size_t count, Statistics& statistics) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Value value = values[i];
        if (std::isnan(value)) ++statistics.nans;
        if (std::isinf(value)) ++statistics.infinities;
        if (std::isinf(value) && value < 0) ++statistics.negative_infinities;
        values[kept] = value;
        kept += std::isfinite(value) ? 1 : 0;
    }
    return kept;
}

/// Statistics of a batch of numbers, which it may move about.
template <typename Value>
Statistics batch_statistics(Dtype dtype, Value* values, std::size_t count) {
    Statistics statistics;
    statistics.elements = count;
    Summary summary = summarise(values, count);
    if (!summary.is_finite) {
        count = keep_finite(values, count, statistics);
        if (count == 0) return statistics;
        summary = summarise(values, count);
    }
    statistics.zeros = summary.zeros;
    statistics.minimum = number_of(dtype, summary.minimum);
    statistics.maximum = number_of(dtype, summary.maximum);
    statistics.mean_or_zero = summary.mean;
    statistics.squares = summary.squares;
    return statistics;
}

/// Of 64-bit integers, which doubles only come near to.
template <typename Integer>
void set_exact_range(const std::byte* bytes, std::size_t count, Statistics& statistics) {
    Integer low = std::numeric_limits<Integer>::max();
    Integer high = std::numeric_limits<Integer>::min();
    for (std::size_t i = 0; i < count; ++i) {
        Integer value;
        std::memcpy(&value, bytes + i * sizeof value, sizeof value);
        low = std::min(low, value);
        high = std::max(high, value);
    }
    statistics.minimum = low;
    statistics.maximum = high;
}

Statistics batch_statistics(Dtype dtype, const std::byte* bytes, std::size_t count) {
    if (fits_float(dtype)) {
        std::array<float, number_batch> values;
        floats_of(dtype, bytes, count, values.data());
        return batch_statistics(dtype, values.data(), count);
    }
    std::array<double, number_batch> values;
    numbers_of(dtype, bytes, count, values.data());
    Statistics statistics = batch_statistics(dtype, values.data(), count);
    if (dtype == Dtype::I64) set_exact_range<std::int64_t>(bytes, count, statistics);
    if (dtype == Dtype::U64) set_exact_range<std::uint64_t>(bytes, count, statistics);
    return statistics;
}

}  // namespace

double Statistics::mean() const { return finite() == 0 ? std::numeric_limits<double>::quiet_NaN() : mean_or_zero; }

double Statistics::deviation() const {
    if (finite() == 0) return std::numeric_limits<double>::quiet_NaN();
    return std::sqrt(squares / static_cast<double>(finite()));
}

bool Statistics::is_constant() const { return elements >= 2 && finite() == elements && !is_less(*minimum, *maximum); }

void Statistics::add(const Statistics& other) {
    if (other.finite() != 0) {
        const auto own = static_cast<double>(finite());
        const auto added = static_cast<double>(other.finite());
        const double apart = other.mean_or_zero - mean_or_zero;
        if (!minimum || is_less(*other.minimum, *minimum)) minimum = other.minimum;
        if (!maximum || is_less(*maximum, *other.maximum)) maximum = other.maximum;
        mean_or_zero += apart * (added / (own + added));
        squares += other.squares + apart * apart * (own * added / (own + added));
    }
    elements += other.elements;
    zeros += other.zeros;
    nans += other.nans;
    infinities += other.infinities;
    negative_infinities += other.negative_infinities;
}

Statistics statistics_of(Dtype dtype, std::span<const std::byte> elements) {
    const std::uint64_t count = elements.size() / block_of(dtype).nbytes * block_of(dtype).elements;
    Statistics statistics;
    for (std::uint64_t begin = 0; begin < count; begin += number_batch) {
        const std::size_t taken = std::min<std::uint64_t>(number_batch, count - begin);
        statistics.add(batch_statistics(dtype, elements.data() + nbytes_in_blocks(dtype, begin), taken));
    }
    return statistics;
}

}  // namespace tensorfs
