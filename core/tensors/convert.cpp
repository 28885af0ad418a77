#include "core/tensors/convert.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/tensors/processor.hpp"
#include "core/tensors/widen.hpp"

namespace tensorfs {
namespace {

constexpr std::uint32_t sign_bit = 0x80000000;
constexpr std::uint32_t infinity = 0x7F800000;  // of a float32, without its sign; above it are NaNs

/// The i-th element of that type from `in` on. (Compiles to a load.)
template <typename Element>
[[gnu::always_inline]] inline Element element_at(const std::byte* in, std::size_t i) {
    Element element;
    std::memcpy(&element, in + i * sizeof element, sizeof element);
    return element;
}

/// Half of what is dropped is added, less one where what stays is even: so a tie goes to the even one. What carries
/// into the exponent is the next power of two, or infinity.
[[gnu::always_inline]] inline std::uint32_t without_low_bits(std::uint32_t value, unsigned bits) {
    return (value + (1U << (bits - 1)) - 1 + (value >> bits & 1)) >> bits;
}

struct ToBf16 {
    [[gnu::always_inline]] static void run(const std::byte* in, std::size_t count, std::uint16_t* out) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto bits = element_at<std::uint32_t>(in, i);
            const std::uint32_t quiet_nan = bits >> 16 | 0x40;
            const bool is_nan = (bits & ~sign_bit) > infinity;
            out[i] = static_cast<std::uint16_t>(is_nan ? quiet_nan : without_low_bits(bits, 16));
        }
    }
};

struct ToF16 {
    [[gnu::always_inline]] static void run(const std::byte* in, std::size_t count, std::uint16_t* out) {
        constexpr std::uint32_t rebias = (127U - 15U) << 23;
        constexpr std::uint32_t smallest_normal = (127U - 14U) << 23;  // 2^-14
        constexpr std::uint32_t too_large = (127U + 16U) << 23;        // 2^16: rounds to infinity, as do some below it
        for (std::size_t i = 0; i < count; ++i) {
            const auto bits = element_at<std::uint32_t>(in, i);
            const std::uint32_t magnitude = bits & ~sign_bit;
            const std::uint32_t normal = without_low_bits(std::min(magnitude, too_large) - rebias, 13);
            // Of 0.5, the last bit is worth as much as a subnormal half's: to add it rounds to these.
            const float shifted = std::bit_cast<float>(std::min(magnitude, smallest_normal)) + 0.5F;
            const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F);
            const std::uint32_t nan = 0x7E00 | (magnitude >> 13 & 0x3FF);
            const std::uint32_t number = magnitude < smallest_normal ? subnormal : normal;
            out[i] = static_cast<std::uint16_t>((bits & sign_bit) >> 16 | (magnitude > infinity ? nan : number));
        }
    }
};

struct F64ToF32 {
    [[gnu::always_inline]] static void run(const std::byte* in, std::size_t count, float* out) {
        for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(element_at<double>(in, i));
    }
};

/// Rounded to odd: what is dropped, if it is not zero, sets the last bit. To round such a float32 to fewer bits gives
/// what to round the float64 would have (Boldo and Melquiond, 2008).
struct F64ToOddF32 {
    [[gnu::always_inline]] static void run(const std::byte* in, std::size_t count, float* out) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto value = element_at<double>(in, i);
            const auto nearest = static_cast<float>(value);
            const auto back = static_cast<double>(nearest);
            const bool is_beyond = __builtin_fabs(back) > __builtin_fabs(value);
            const bool is_inexact = back < value || back > value;  // and no NaN
            const std::uint32_t towards_zero = std::bit_cast<std::uint32_t>(nearest) - (is_beyond ? 1U : 0U);
            out[i] = std::bit_cast<float>(towards_zero | (is_inexact ? 1U : 0U));
        }
    }
};

/// How many elements of so many bytes are infinities.
template <typename Bits>
std::uint64_t infinities(const std::byte* in, std::size_t count, Bits infinite) {
    constexpr Bits mask = static_cast<Bits>(~Bits{0}) >> 1;  // all but the sign
    std::uint32_t found = 0;                                 // a block has few elements
    for (std::size_t i = 0; i < count; ++i) found += (element_at<Bits>(in, i) & mask) == infinite ? 1U : 0U;
    return found;
}

std::uint64_t infinities(Dtype dtype, const std::byte* in, std::size_t count) {
    switch (dtype) {
        case Dtype::BF16: return infinities<std::uint16_t>(in, count, 0x7F80);
        case Dtype::F16: return infinities<std::uint16_t>(in, count, 0x7C00);
        case Dtype::F32: return infinities<std::uint32_t>(in, count, infinity);
        default: return infinities<std::uint64_t>(in, count, 0x7FF0000000000000);
    }
}

// Small enough to stay in the processor's first cache; whole blocks of any type.
constexpr std::size_t most_elements = 2048;

/// Of at most `most_elements`.
std::uint64_t convert_block(Dtype from, const std::byte* packed, std::size_t count, Dtype to, std::byte* out) {
    alignas(64) std::array<float, most_elements> buffer;
    float* const floats = to == Dtype::F32 ? reinterpret_cast<float*>(out) : buffer.data();
    if (from == Dtype::F32) {
        std::memcpy(floats, packed, count * sizeof(float));
    } else if (from != Dtype::F64) {
        widen(from, packed, count, floats);
    } else if (to == Dtype::F32) {
        run<F64ToF32>(packed, count, floats);
    } else {
        run<F64ToOddF32>(packed, count, floats);
    }
    const auto* const source = reinterpret_cast<const std::byte*>(floats);
    if (to == Dtype::BF16) run<ToBf16>(source, count, reinterpret_cast<std::uint16_t*>(out));
    if (to == Dtype::F16) run<ToF16>(source, count, reinterpret_cast<std::uint16_t*>(out));
    const std::uint64_t infinite = infinities(to, out, count);
    if (infinite == 0) return 0;
    return infinite - (from == Dtype::F64 ? infinities(from, packed, count) : infinities(Dtype::F32, source, count));
}

}  // namespace

bool can_convert(Dtype from) { return from == Dtype::F64 || from == Dtype::F32 || can_widen(from); }

bool can_convert_to(Dtype to) { return to == Dtype::F32 || to == Dtype::F16 || to == Dtype::BF16; }

std::uint64_t convert(Dtype from, const std::byte* packed, std::size_t elements, Dtype to, std::byte* out) {
    if (to == Dtype::F32 && can_widen(from)) {
        widen(from, packed, elements, reinterpret_cast<float*>(out));
        return 0;
    }
    const Block block = block_of(from);
    std::uint64_t overflows = 0;
    while (elements > 0) {
        const std::size_t count = std::min(elements, most_elements);
        overflows += convert_block(from, packed, count, to, out);
        packed += count / block.elements * block.nbytes;
        out += count * block_of(to).nbytes;
        elements -= count;
    }
    return overflows;
}

}  // namespace tensorfs
