#include "fs/comparing/difference.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/tensors/widen.hpp"

namespace tensorfs {
namespace {

/// Elements that become doubles at a time: whole blocks of every type, and little enough for the stack.
constexpr std::size_t batch = 1024;

template <typename Value>
Value load(const std::byte* bytes, std::size_t i) {
    Value value;
    std::memcpy(&value, bytes + i * sizeof value, sizeof value);
    return value;
}

template <typename Number>
void load_numbers(const std::byte* bytes, std::size_t count, double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<double>(load<Number>(bytes, i));
}

/// REQUIRES: at most `batch` elements, none of them complex.
void numbers_of(Dtype dtype, const std::byte* bytes, std::size_t count, double* out) {
    if (can_widen(dtype)) {
        std::array<float, batch> wide;
        widen(dtype, bytes, count, wide.data());
        std::copy_n(wide.begin(), count, out);
        return;
    }
    switch (dtype) {
        case Dtype::U8: return load_numbers<std::uint8_t>(bytes, count, out);
        case Dtype::I8: return load_numbers<std::int8_t>(bytes, count, out);
        case Dtype::U16: return load_numbers<std::uint16_t>(bytes, count, out);
        case Dtype::I16: return load_numbers<std::int16_t>(bytes, count, out);
        case Dtype::U32: return load_numbers<std::uint32_t>(bytes, count, out);
        case Dtype::I32: return load_numbers<std::int32_t>(bytes, count, out);
        case Dtype::U64: return load_numbers<std::uint64_t>(bytes, count, out);
        case Dtype::I64: return load_numbers<std::int64_t>(bytes, count, out);
        case Dtype::F32: return load_numbers<float>(bytes, count, out);
        case Dtype::F64: return load_numbers<double>(bytes, count, out);
        default:  // BOOL
            for (std::size_t i = 0; i < count; ++i) out[i] = bytes[i] == std::byte{0} ? 0 : 1;
    }
}

using Same = std::array<bool, batch>;

template <typename Code>
void same_codes(const std::byte* a, const std::byte* b, std::size_t count, Same& same) {
    for (std::size_t i = 0; i < count; ++i) same[i] = load<Code>(a, i) == load<Code>(b, i);
}

/// Whether the bits of elements that share no bytes are the same.
void same_codes(std::uint32_t width, const std::byte* a, const std::byte* b, std::size_t count, Same& same) {
    switch (width) {
        case 1: return same_codes<std::uint8_t>(a, b, count, same);
        case 2: return same_codes<std::uint16_t>(a, b, count, same);
        case 4: return same_codes<std::uint32_t>(a, b, count, same);
        default: return same_codes<std::uint64_t>(a, b, count, same);
    }
}

void add_complex(const std::byte* a, const std::byte* b, std::size_t count, Difference& difference) {
    struct Complex {
        float real, imaginary;
    };
    for (std::size_t i = 0; i < count; ++i) {
        const auto x = load<Complex>(a, i);
        const auto y = load<Complex>(b, i);
        difference.add(load<std::uint64_t>(a, i) == load<std::uint64_t>(b, i),
                       std::hypot(double{x.real}, double{x.imaginary}),
                       std::hypot(double{x.real} - double{y.real}, double{x.imaginary} - double{y.imaginary}));
    }
}

void add_batch(Dtype a_type, const std::byte* a, Dtype b_type, const std::byte* b, std::size_t count,
               Difference& difference) {
    if (a_type == Dtype::C64) return add_complex(a, b, count, difference);
    std::array<double, batch> x;
    std::array<double, batch> y;
    numbers_of(a_type, a, count, x.data());
    numbers_of(b_type, b, count, y.data());
    Same same;
    if (a_type != b_type) {
        for (std::size_t i = 0; i < count; ++i) same[i] = x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]));
    } else if (is_packed(a_type)) {
        for (std::size_t i = 0; i < count; ++i)
            same[i] = std::bit_cast<std::uint64_t>(x[i]) == std::bit_cast<std::uint64_t>(y[i]);
    } else {
        same_codes(block_of(a_type).nbytes, a, b, count, same);
    }
    for (std::size_t i = 0; i < count; ++i) difference.add(same[i], std::fabs(x[i]), std::fabs(x[i] - y[i]));
}

}  // namespace

void Difference::add(const Difference& other) {
    elements += other.elements;
    differing += other.differing;
    nans += other.nans;
    largest = std::max(largest, other.largest);
    sum += other.sum;
    squares += other.squares;
    own_squares += other.own_squares;
}

void Difference::add(bool is_same, double magnitude, double apart) {
    ++elements;
    if (!is_same) {
        ++differing;
        if (std::isnan(apart)) {
            ++nans;
            return;
        }
        largest = std::max(largest, apart);
        sum += apart;
        squares += apart * apart;
    }
    if (std::isfinite(magnitude)) own_squares += magnitude * magnitude;
}

double Difference::mean() const { return elements == nans ? 0 : sum / static_cast<double>(elements - nans); }

double Difference::rms() const {
    return elements == nans ? 0 : std::sqrt(squares / static_cast<double>(elements - nans));
}

double Difference::relative_rms() const { return squares == 0 ? 0 : std::sqrt(squares / own_squares); }

bool are_comparable(Dtype a, Dtype b) { return a == b || (a != Dtype::C64 && b != Dtype::C64); }

Difference compare_elements(Dtype a_type, std::span<const std::byte> a, Dtype b_type, std::span<const std::byte> b,
                            Measure measure) {
    const auto nbytes = [](Dtype dtype, std::size_t elements) {
        return elements / block_of(dtype).elements * block_of(dtype).nbytes;
    };
    const std::size_t elements = a.size() / block_of(a_type).nbytes * block_of(a_type).elements;
    const bool may_skip = a_type == b_type && measure == Measure::distances;
    Difference difference;
    for (std::size_t begin = 0; begin < elements; begin += batch) {
        const std::size_t count = std::min(batch, elements - begin);
        const std::byte* const x = a.data() + nbytes(a_type, begin);
        const std::byte* const y = b.data() + nbytes(b_type, begin);
        if (may_skip && std::memcmp(x, y, nbytes(a_type, count)) == 0) {
            difference.elements += count;
        } else {
            add_batch(a_type, x, b_type, y, count, difference);
        }
    }
    return difference;
}

}  // namespace tensorfs
