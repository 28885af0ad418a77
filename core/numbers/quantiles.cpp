#include "core/numbers/quantiles.hpp"

#include <bit>
#include <cmath>

namespace tensorfs {
namespace {

constexpr unsigned dropped_bits = 48;
constexpr std::uint16_t sign = 0x8000;

/// The bucket of a number: a double's highest 16 bits, turned so that buckets are in the order of the numbers.
std::size_t bucket_of(double number) {
    const auto top = static_cast<std::uint16_t>(std::bit_cast<std::uint64_t>(number) >> dropped_bits);
    return static_cast<std::uint16_t>((top & sign) != 0 ? ~top : top | sign);
}

/// The end of a bucket that is nearer to zero.
double number_of(std::size_t bucket) {
    const auto code = static_cast<std::uint16_t>(bucket);
    const auto top = static_cast<std::uint16_t>((code & sign) != 0 ? code & ~sign : ~code);
    return std::bit_cast<double>(std::uint64_t{top} << dropped_bits);
}

}  // namespace

void Quantiles::add(std::span<const double> numbers) {
    for (const double number : numbers) {
        if (!std::isfinite(number)) continue;
        ++counts_[bucket_of(number)];
        ++count_;
    }
}

double Quantiles::at(double part) const {
    if (count_ == 0) return 0;
    const auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(count_ - 1));
    std::uint64_t before = 0;
    std::size_t bucket = 0;
    while (before + counts_[bucket] <= wanted) before += counts_[bucket++];
    return number_of(bucket);
}

}  // namespace tensorfs
