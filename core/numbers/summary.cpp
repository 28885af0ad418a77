#include "core/numbers/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

// Compiled with -ffp-contract=off (see CMakeLists.txt), and each lane has the same numbers to add whatever a vector
// holds: so the figures are the same everywhere.

namespace tensorfs {
namespace {

/// How many numbers go side by side, each into a sum of its own: several vectors of most processors, so that an
/// addition need not wait for the one before it.
constexpr std::size_t lanes = 8;

template <typename Value>
[[gnu::always_inline]] inline double load(const std::byte* in, std::size_t i) {
    Value value;
    std::memcpy(&value, in + i * sizeof value, sizeof value);
    return static_cast<double>(value);
}

/// Goes through `Value`s, with vectors of `width` doubles. (GCC takes larger vectors than a processor has apart, number
/// by number.)
template <typename Value, std::size_t width>
struct Summarise {
    using Values [[gnu::vector_size(width * sizeof(Value))]] = Value;
    using Numbers [[gnu::vector_size(width * sizeof(double))]] = double;
    using Counts [[gnu::vector_size(width * sizeof(std::int64_t))]] = std::int64_t;
    static constexpr std::size_t vectors = lanes / width;

    /// (By reference, since how a vector is returned hangs on the processor.)
    [[gnu::always_inline]] static void load_vector(const std::byte* in, std::size_t i, Numbers& numbers) {
        Values values;
        std::memcpy(&values, in + i * sizeof(Value), sizeof values);
        numbers = __builtin_convertvector(values, Numbers);
    }

    [[gnu::always_inline]] static void run(const std::byte* in, std::size_t count, Summary* out) {
        const std::size_t whole = count / lanes * lanes;
        const double first = load<Value>(in, 0);
        Numbers low[vectors];
        Numbers high[vectors];
        Numbers sums[vectors]{};
        Counts zeros[vectors]{};
        for (std::size_t v = 0; v < vectors; ++v) low[v] = high[v] = Numbers{} + first;
        for (std::size_t i = 0; i < whole; i += lanes) {
            for (std::size_t v = 0; v < vectors; ++v) {
                Numbers x;
                load_vector(in, i + v * width, x);
                low[v] = x < low[v] ? x : low[v];
                high[v] = x > high[v] ? x : high[v];
                sums[v] += x;
                zeros[v] -= x == Numbers{};  // -1 where it is true
            }
        }
        *out = {first, first, 0, 0, 0, true};
        double sum = 0;
        for (std::size_t i = 0; i < lanes; ++i) {
            out->minimum = std::min(out->minimum, low[i / width][i % width]);
            out->maximum = std::max(out->maximum, high[i / width][i % width]);
            out->zeros += static_cast<std::uint64_t>(zeros[i / width][i % width]);
            sum += sums[i / width][i % width];
        }
        for (std::size_t i = whole; i < count; ++i) {
            const double x = load<Value>(in, i);
            out->minimum = std::min(out->minimum, x);
            out->maximum = std::max(out->maximum, x);
            if (x == 0) ++out->zeros;
            sum += x;
        }
        out->is_finite = std::isfinite(sum);  // an infinity or a NaN is never lost in a sum
        out->mean = sum / static_cast<double>(count);

        Numbers squares[vectors]{};
        for (std::size_t i = 0; i < whole; i += lanes) {
            for (std::size_t v = 0; v < vectors; ++v) {
                Numbers apart;
                load_vector(in, i + v * width, apart);
                apart -= out->mean;
                squares[v] += apart * apart;
            }
        }
        for (std::size_t i = 0; i < lanes; ++i) out->squares += squares[i / width][i % width];
        for (std::size_t i = whole; i < count; ++i) {
            const double apart = load<Value>(in, i) - out->mean;
            out->squares += apart * apart;
        }
    }
};

template <typename Value>
constexpr VersionsTo<Summary> versions_for {
    on_baseline<Summarise<Value, 2>, Summary>,
#if defined(__x86_64__)
        on_avx2<Summarise<Value, 4>, Summary>, on_avx512<Summarise<Value, 8>, Summary>,
#endif
};

template <typename Value>
Summary summarise_by(Processor processor, const Value* values, std::size_t count) {
    Summary summary;
    versions_for<Value>[static_cast<std::size_t>(processor)](reinterpret_cast<const std::byte*>(values), count,
                                                             &summary);
    return summary;
}

}  // namespace

Summary summarise(Processor processor, const float* values, std::size_t count) {
    return summarise_by(processor, values, count);
}

Summary summarise(Processor processor, const double* values, std::size_t count) {
    return summarise_by(processor, values, count);
}

Summary summarise(const float* values, std::size_t count) { return summarise(best_processor(), values, count); }

Summary summarise(const double* values, std::size_t count) { return summarise(best_processor(), values, count); }

}  // namespace tensorfs
