#include "fs/printing/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tensorfs {
namespace {

constexpr std::size_t precision = 8;  // NumPy's default: numpy.set_printoptions

/// A positive number in decimal: 0.DIGITS times ten to the power of `point`.
struct Decimal {
    std::string digits;
    int point;
};

/// The shortest decimal that is nearer to `value` than to any other number of the type.
Decimal shortest(double value, const Digits& type) {
    const int exponent = std::max(std::ilogb(value), type.smallest_exponent);
    const double above = std::ldexp(0.5, exponent - type.mantissa_bits);
    const bool is_power = std::ldexp(1.0, exponent) == value && exponent > type.smallest_exponent;
    const double below = is_power ? above / 2 : above;
    // A decimal halfway between two neighbours is read as the even one.
    const bool is_even = std::fmod(std::ldexp(value, type.mantissa_bits - exponent), 2) == 0;
    std::string text;
    for (int digits = 0; digits <= 16; ++digits) {
        text = fmt::format("{:.{}e}", value, digits);
        const double read = std::strtod(text.c_str(), nullptr);
        const double distance = std::fabs(read - value);
        const double limit = read > value ? above : below;
        if (distance == 0 || distance < limit || (is_even && distance == limit)) break;
    }
    const std::size_t e = text.find('e');
    std::string digits = text.substr(0, 1);
    if (e > 2) digits += text.substr(2, e - 2);
    while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
    return {digits, std::atoi(text.c_str() + e + 1) + 1};
}

/// A number cut where NumPy aligns it: before and after the point.
struct Parts {
    std::string before;
    std::string behind;
};

Parts split_at_point(const Decimal& number) {
    if (number.digits.empty()) return {"0", ""};
    const auto point = static_cast<std::size_t>(std::max(number.point, 0));
    Parts parts;
    parts.before = number.point <= 0 ? "0" : number.digits.substr(0, point);
    parts.before.append(point > number.digits.size() ? point - number.digits.size() : 0, '0');
    if (number.point < 0) parts.behind.append(static_cast<std::size_t>(-number.point), '0');
    if (number.digits.size() > point) parts.behind += number.digits.substr(point);
    return parts;
}

std::string without_last_zeros(std::string digits) {
    while (!digits.empty() && digits.back() == '0') digits.pop_back();
    return digits;
}

Parts positional(double magnitude, const Digits& type) {
    if (magnitude == 0) return {"0", ""};
    Parts parts = split_at_point(shortest(magnitude, type));
    if (parts.behind.size() <= precision) return parts;
    const std::string rounded = fmt::format("{:.{}f}", magnitude, precision);
    const std::size_t point = rounded.find('.');
    return {rounded.substr(0, point), without_last_zeros(rounded.substr(point + 1))};
}

struct Scientific {
    Parts parts;
    int exponent;
};

Scientific scientific(double magnitude, const Digits& type) {
    if (magnitude == 0) return {{"0", ""}, 0};
    const Decimal number = shortest(magnitude, type);
    if (number.digits.size() <= precision + 1)
        return {{number.digits.substr(0, 1), number.digits.substr(1)}, number.point - 1};
    const std::string rounded = fmt::format("{:.{}e}", magnitude, precision);
    const std::size_t e = rounded.find('e');
    return {{rounded.substr(0, 1), without_last_zeros(rounded.substr(2, e - 2))}, std::atoi(rounded.c_str() + e + 1)};
}

std::string non_finite(double value) {
    if (std::isnan(value)) return "nan";
    return value < 0 ? "-inf" : "inf";
}

}  // namespace

Digits digits_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::F16: return {10, -14};
        case Dtype::BF16: return {7, -126};
        case Dtype::F64: return {52, -1022};
        default: return {23, -126};  // narrower ones, too: their few values are shown in full
    }
}

std::string scalar_text(double value, const Digits& type, bool needs_point) {
    if (std::isnan(value)) return "nan";
    const std::string sign = std::signbit(value) ? "-" : "";
    if (std::isinf(value)) return sign + "inf";
    const double magnitude = std::fabs(value);
    const Decimal number = magnitude == 0 ? Decimal{"0", 1} : shortest(magnitude, type);
    if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16)) {
        const int exponent = number.point - 1;
        return fmt::format("{}{}{}{}e{}{:02}", sign, number.digits.substr(0, 1), number.digits.size() > 1 ? "." : "",
                           number.digits.substr(1), exponent < 0 ? '-' : '+', std::abs(exponent));
    }
    const Parts parts = split_at_point(number);
    if (!parts.behind.empty()) return fmt::format("{}{}.{}", sign, parts.before, parts.behind);
    return sign + parts.before + (needs_point ? ".0" : "");
}

RealFormat::RealFormat(const std::vector<double>& values, Digits type) : type_(type) {
    double largest = 0;
    double smallest = HUGE_VAL;
    bool has_minus = false;
    for (const double value : values) {
        if (!std::isfinite(value) || value == 0) continue;
        largest = std::max(largest, std::fabs(value));
        smallest = std::min(smallest, std::fabs(value));
    }
    is_scientific_ = largest > 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        const Parts parts =
            is_scientific_ ? scientific(std::fabs(value), type_).parts : positional(std::fabs(value), type_);
        before_ = std::max(before_, parts.before.size() + (std::signbit(value) ? 1 : 0));
        behind_ = std::max(behind_, parts.behind.size());
        has_minus = has_minus || std::signbit(value);
    }
    if (is_scientific_) {
        int exponent_digits = 2;
        for (const double value : values) {
            if (!std::isfinite(value)) continue;
            if (std::abs(scientific(std::fabs(value), type_).exponent) > 99) exponent_digits = 3;
        }
        exponent_digits_ = exponent_digits;
    }
    for (const double value : values) {
        if (std::isfinite(value)) continue;
        const std::size_t width = non_finite(value).size();
        const std::size_t tail = tail_width() + 1;
        before_ = std::max(before_, width > tail ? width - tail : 0);
    }
}

std::string RealFormat::operator()(double value) const {
    if (!std::isfinite(value)) return fmt::format("{:>{}}", non_finite(value), before_ + 1 + tail_width());
    const std::string sign = std::signbit(value) ? "-" : "";
    if (!is_scientific_) {
        const Parts parts = positional(std::fabs(value), type_);
        return fmt::format("{:>{}}.{:<{}}", sign + parts.before, before_, parts.behind, behind_);
    }
    // The digits printed are the value's own, even beyond those that tell it from its neighbours.
    const std::string text = fmt::format("{:#.{}e}", std::fabs(value), behind_);
    const std::size_t e = text.find('e');
    return fmt::format("{:>{}}{}e{}{:0{}}", sign + text.substr(0, 1), before_, text.substr(1, e - 1), text[e + 1],
                       std::abs(std::atoi(text.c_str() + e + 1)), exponent_digits_);
}

std::size_t RealFormat::tail_width() const {
    return behind_ + (is_scientific_ ? 2 + static_cast<std::size_t>(exponent_digits_) : 0);
}

}  // namespace tensorfs
