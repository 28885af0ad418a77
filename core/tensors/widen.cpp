#include "core/tensors/widen.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/tensors/dequantise.hpp"
#include "core/tensors/half.hpp"
#include "core/tensors/processor.hpp"

namespace tensorfs {
namespace {

static_assert(std::endian::native == std::endian::little, "shards are little-endian, and read as they lie");

/// What the codes that would be the largest values mean.
enum class Special : std::uint8_t {
    ieee,        // the largest exponent is infinity and NaNs
    nan,         // the largest exponent and mantissa is NaN
    nan_at_end,  // as zero with a sign, which is no zero, is NaN
    none
};

/// A float of at most 8 bits: sign, exponent, mantissa.
struct Format {
    unsigned exponent_bits;
    unsigned mantissa_bits;
    int bias;
    Special special;
};

std::uint32_t sign_bit(bool negative) { return negative ? 0x80000000U : 0U; }

float value(const Format& format, std::uint32_t code) {
    const std::uint32_t mantissa = code & ((1U << format.mantissa_bits) - 1);
    const std::uint32_t exponent = code >> format.mantissa_bits & ((1U << format.exponent_bits) - 1);
    const bool negative = (code >> (format.mantissa_bits + format.exponent_bits) & 1) != 0;
    const bool is_largest = exponent == (1U << format.exponent_bits) - 1;

    constexpr std::uint32_t infinity = 0x7F800000;
    constexpr std::uint32_t quiet_nan = 0x7FC00000;
    if (format.special == Special::ieee && is_largest) {
        return std::bit_cast<float>(sign_bit(negative) | infinity | mantissa << (23 - format.mantissa_bits));
    }
    if (format.special == Special::nan && is_largest && mantissa == (1U << format.mantissa_bits) - 1) {
        return std::bit_cast<float>(sign_bit(negative) | quiet_nan);
    }
    if (format.special == Special::nan_at_end && negative && exponent == 0 && mantissa == 0) {
        return std::bit_cast<float>(sign_bit(negative) | quiet_nan);
    }
    // Without the leading one where the exponent is 0, and as if that were 1.
    const std::uint32_t digits = mantissa | (exponent == 0 ? 0U : 1U << format.mantissa_bits);
    const int scale =
        (exponent == 0 ? 1 : static_cast<int>(exponent)) - format.bias - static_cast<int>(format.mantissa_bits);
    const float magnitude = std::ldexp(static_cast<float>(digits), scale);
    return negative ? -magnitude : magnitude;
}

using Table = std::array<float, 256>;  // by code; of narrower types, by the code's lowest bits

Table make_table(Dtype dtype) {
    Table table{};
    for (std::uint32_t code = 0; code < table.size(); ++code) {
        switch (dtype) {
            case Dtype::F8_E5M2: table[code] = value({5, 2, 15, Special::ieee}, code); break;
            case Dtype::F8_E4M3: table[code] = value({4, 3, 7, Special::nan}, code); break;
            case Dtype::F8_E4M3FNUZ: table[code] = value({4, 3, 8, Special::nan_at_end}, code); break;
            case Dtype::F8_E5M2FNUZ: table[code] = value({5, 2, 16, Special::nan_at_end}, code); break;
            case Dtype::F6_E2M3: table[code] = value({2, 3, 1, Special::none}, code & 0x3F); break;
            case Dtype::F6_E3M2: table[code] = value({3, 2, 3, Special::none}, code & 0x3F); break;
            case Dtype::F4: table[code] = value({2, 1, 1, Special::none}, code & 0xF); break;
            case Dtype::F8_E8M0:
                table[code] = code == 0xFF ? std::numeric_limits<float>::quiet_NaN()
                                           : std::ldexp(1.0F, static_cast<int>(code) - 127);
                break;
            default: break;  // no table for these
        }
    }
    return table;
}

const Table& table_of(Dtype dtype) {
    static const auto tables = [] {
        std::array<Table, plain_dtype_count> all{};
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = make_table(static_cast<Dtype>(i));
        return all;
    }();
    return tables[static_cast<std::size_t>(dtype)];
}

/// The i-th two bytes from `in` on. (Compiles to a load.)
[[gnu::always_inline]] inline std::uint32_t half_word(const std::byte* in, std::size_t i) {
    std::uint16_t code = 0;
    std::memcpy(&code, in + i * sizeof code, sizeof code);
    return code;
}

struct WidenBf16 {
    [[gnu::always_inline]] static void run(const std::byte* in, std::size_t count, float* out) {
        for (std::size_t i = 0; i < count; ++i) out[i] = std::bit_cast<float>(half_word(in, i) << 16);
    }
};

struct WidenF16 {
    [[gnu::always_inline]] static void run(const std::byte* in, std::size_t count, float* out) {
        for (std::size_t i = 0; i < count; ++i) out[i] = widen_half(half_word(in, i));
    }
};

void widen_bytes(const Table& table, const std::byte* in, std::size_t count, float* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = table[static_cast<std::uint8_t>(in[i])];
}

void widen_f4(const Table& table, const std::byte* in, std::size_t count, float* out) {
    for (std::size_t i = 0; i < count; i += 2) {
        const auto byte = static_cast<std::uint8_t>(in[i / 2]);
        out[i] = table[byte & 0xF];
        out[i + 1] = table[byte >> 4];
    }
}

void widen_f6(const Table& table, const std::byte* in, std::size_t count, float* out) {
    for (std::size_t i = 0; i < count; i += 4, in += 3) {
        const std::uint32_t group = static_cast<std::uint32_t>(in[0]) | static_cast<std::uint32_t>(in[1]) << 8 |
                                    static_cast<std::uint32_t>(in[2]) << 16;
        for (std::size_t j = 0; j < 4; ++j) out[i + j] = table[group >> (6 * j) & 0x3F];
    }
}

}  // namespace

bool can_widen(Dtype dtype) {
    switch (dtype) {
        case Dtype::F4:
        case Dtype::F6_E2M3:
        case Dtype::F6_E3M2:
        case Dtype::F8_E5M2:
        case Dtype::F8_E4M3:
        case Dtype::F8_E8M0:
        case Dtype::F8_E4M3FNUZ:
        case Dtype::F8_E5M2FNUZ:
        case Dtype::F16:
        case Dtype::BF16: return true;
        default: return is_quantised(dtype);
    }
}

void widen(Dtype dtype, const std::byte* packed, std::size_t elements, float* out) {
    if (is_quantised(dtype)) {
        dequantise(dtype, packed, elements, out);
        return;
    }
    switch (dtype) {
        case Dtype::BF16: run<WidenBf16>(packed, elements, out); break;
        case Dtype::F16: run<WidenF16>(packed, elements, out); break;
        case Dtype::F4: widen_f4(table_of(dtype), packed, elements, out); break;
        case Dtype::F6_E2M3:
        case Dtype::F6_E3M2: widen_f6(table_of(dtype), packed, elements, out); break;
        default: widen_bytes(table_of(dtype), packed, elements, out); break;
    }
}

}  // namespace tensorfs
