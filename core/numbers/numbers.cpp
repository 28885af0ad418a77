#include "core/numbers/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/tensors/widen.hpp"

namespace tensorfs {
namespace {

template <typename Value, typename Number>
void load(const std::byte* bytes, std::size_t count, Number* out) {
    for (std::size_t i = 0; i < count; ++i) {
        Value value;
        std::memcpy(&value, bytes + i * sizeof value, sizeof value);
        out[i] = static_cast<Number>(value);
    }
}

template <typename Number>
void load_bools(const std::byte* bytes, std::size_t count, Number* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = bytes[i] == std::byte{0} ? Number{0} : Number{1};
}

/// In double, where the squares of float32s neither overflow nor vanish.
void load_magnitudes(const std::byte* bytes, std::size_t count, double* out) {
    for (std::size_t i = 0; i < count; ++i) {
        std::array<float, 2> parts;
        std::memcpy(parts.data(), bytes + i * sizeof parts, sizeof parts);
        const double real = double{parts[0]};
        const double imaginary = double{parts[1]};
        out[i] = std::isinf(real) || std::isinf(imaginary) ? std::numeric_limits<double>::infinity()
                                                           : std::sqrt(real * real + imaginary * imaginary);
    }
}

}  // namespace

bool fits_float(Dtype dtype) {
    switch (dtype) {
        case Dtype::BOOL:
        case Dtype::U8:
        case Dtype::I8:
        case Dtype::U16:
        case Dtype::I16:
        case Dtype::F32: return true;
        default: return can_widen(dtype);
    }
}

void floats_of(Dtype dtype, const std::byte* bytes, std::size_t count, float* out) {
    switch (dtype) {
        case Dtype::BOOL: return load_bools(bytes, count, out);
        case Dtype::U8: return load<std::uint8_t>(bytes, count, out);
        case Dtype::I8: return load<std::int8_t>(bytes, count, out);
        case Dtype::U16: return load<std::uint16_t>(bytes, count, out);
        case Dtype::I16: return load<std::int16_t>(bytes, count, out);
        case Dtype::F32: std::memcpy(out, bytes, count * sizeof *out); return;
        default: widen(dtype, bytes, count, out);
    }
}

void numbers_of(Dtype dtype, const std::byte* bytes, std::size_t count, double* out) {
    switch (dtype) {
        case Dtype::U32: return load<std::uint32_t>(bytes, count, out);
        case Dtype::I32: return load<std::int32_t>(bytes, count, out);
        case Dtype::U64: return load<std::uint64_t>(bytes, count, out);
        case Dtype::I64: return load<std::int64_t>(bytes, count, out);
        case Dtype::F64: std::memcpy(out, bytes, count * sizeof *out); return;
        case Dtype::C64: return load_magnitudes(bytes, count, out);
        default: break;
    }
    const std::uint64_t step = nbytes_in_blocks(dtype, number_batch);
    std::array<float, number_batch> floats;
    for (; count > 0; bytes += step) {
        const std::size_t taken = std::min(count, number_batch);
        floats_of(dtype, bytes, taken, floats.data());
        out = std::copy_n(floats.data(), taken, out);
        count -= taken;
    }
}

}  // namespace tensorfs
