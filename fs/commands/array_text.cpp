#include "fs/commands/array_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "core/widen.hpp"

namespace tensorfs {
namespace {

// NumPy's defaults: numpy.set_printoptions.
constexpr std::uint64_t threshold = 1000;
constexpr std::uint64_t edge = 3;
constexpr std::size_t line_width = 75;
constexpr std::size_t precision = 8;

/// What tells a value of a type from its neighbours.
struct Digits {
    int mantissa_bits;
    int smallest_exponent;
};

Digits digits_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::F16: return {10, -14};
        case Dtype::BF16: return {7, -126};
        case Dtype::F64: return {52, -1022};
        default: return {23, -126};  // narrower ones, too: their few values are shown in full
    }
}

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
    // What is halfway to a neighbour is read as the even one of the two.
    const bool is_even = std::fmod(std::ldexp(value, type.mantissa_bits - exponent), 2) == 0;
    std::string text;
    for (int digits = 0; digits <= 16; ++digits) {
        text = fmt::format("{:.{}e}", value, digits);
        const double read = std::strtod(text.c_str(), nullptr);
        const double distance = std::fabs(read - value);
        const double limit = read > value ? above : below;
        if (distance < limit || (is_even && distance == limit)) break;
    }
    const std::size_t e = text.find('e');
    std::string digits = text.substr(0, 1);
    if (e > 2) digits += text.substr(2, e - 2);
    while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
    return {digits, std::atoi(text.c_str() + e + 1) + 1};
}

/// A number cut where NumPy aligns it: what stands before the point, and behind.
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

/// Prints real numbers of one column: all of them have the same width.
class RealFormat {
public:
    RealFormat(const std::vector<double>& values, Digits type) : type_(type) {
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

    [[nodiscard]] std::string operator()(double value) const {
        if (!std::isfinite(value)) return fmt::format("{:>{}}", non_finite(value), before_ + 1 + tail_width());
        const std::string sign = std::signbit(value) ? "-" : "";
        if (!is_scientific_) {
            const Parts parts = positional(std::fabs(value), type_);
            return fmt::format("{:>{}}.{:<{}}", sign + parts.before, before_, parts.behind, behind_);
        }
        // The column's digits are the value's own, also beyond those that tell it from its neighbours.
        const std::string text = fmt::format("{:#.{}e}", std::fabs(value), behind_);
        const std::size_t e = text.find('e');
        return fmt::format("{:>{}}{}e{}{:0{}}", sign + text.substr(0, 1), before_, text.substr(1, e - 1), text[e + 1],
                           std::abs(std::atoi(text.c_str() + e + 1)), exponent_digits_);
    }

private:
    static std::string non_finite(double value) {
        if (std::isnan(value)) return "nan";
        return value < 0 ? "-inf" : "inf";
    }
    /// What stands behind the point.
    [[nodiscard]] std::size_t tail_width() const {
        return behind_ + (is_scientific_ ? 2 + static_cast<std::size_t>(exponent_digits_) : 0);
    }

    Digits type_;
    bool is_scientific_ = false;
    std::size_t before_ = 0;
    std::size_t behind_ = 0;
    int exponent_digits_ = 0;
};

std::string trimmed(std::string text) {
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

/// A number by itself, as Python prints one: with all digits that tell it from its neighbours.
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

std::string scalar_text(const Element& element, const Digits& type) {
    if (element.type == Element::Type::real) return scalar_text(element.real, type, true);
    const std::string imaginary = scalar_text(element.imaginary, type, false);
    return fmt::format("({}{}{}j)", scalar_text(element.real, type, false), imaginary.front() == '-' ? "" : "+",
                       imaginary);
}

/// All elements as words of one width.
std::vector<std::string> words_of(Dtype dtype, const std::vector<Element>& elements) {
    std::vector<std::string> words;
    words.reserve(elements.size());
    std::vector<double> reals;
    std::vector<double> imaginaries;
    for (const Element& element : elements) {
        reals.push_back(element.real);
        imaginaries.push_back(element.imaginary);
    }
    const RealFormat real(reals, digits_of(dtype));
    const RealFormat imaginary(imaginaries, digits_of(dtype));
    for (const Element& element : elements) {
        switch (element.type) {
            case Element::Type::boolean: words.emplace_back(element.natural != 0 ? " True" : "False"); break;
            case Element::Type::integer: words.push_back(std::to_string(element.integer)); break;
            case Element::Type::natural: words.push_back(std::to_string(element.natural)); break;
            case Element::Type::real: words.push_back(real(element.real)); break;
            case Element::Type::complex: {
                // The i stands behind the digits, and blanks to fill up behind it.
                std::string part = imaginary(element.imaginary);
                const std::size_t blanks = part.size() - std::min(part.find_last_not_of(' ') + 1, part.size());
                part = trimmed(part);
                if (part.front() != '-') part.insert(part.begin(), '+');
                words.push_back(real(element.real) + part + "j" + std::string(blanks, ' '));
                break;
            }
        }
    }
    std::size_t width = 0;
    for (const std::string& word : words) width = std::max(width, word.size());
    for (std::string& word : words) word.insert(0, width - word.size(), ' ');
    return words;
}

/// Sets words in brackets and lines.
class Printer {
public:
    Printer(Shape shape, const Shown& shown, std::vector<std::string> words)
        : shape_(shape), shown_(shown), words_(std::move(words)) {}

    std::string print() { return part(0, line_width); }

private:
    /// The dimensions from `depth` on, without the blanks before its first line.
    std::string part(std::size_t depth, std::size_t width) {
        const std::string indent(depth + 1, ' ');
        const std::vector<std::uint64_t>& places = shown_.places[depth];
        const bool is_row = depth + 1 == shape_.size();
        const bool is_cut = places.size() < shape_[depth];
        std::string text;
        std::string line = indent;
        const auto put = [&](const std::string& word) {
            if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
                while (!line.empty() && line.back() == ' ') line.pop_back();
                text += line + '\n';
                line = indent;
            }
            line += word;
        };
        const std::string line_end(shape_.size() - depth - 1, '\n');
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (is_cut && i == edge) {
                if (is_row) {
                    put("...");
                    line += ' ';
                } else {
                    text += indent + "..." + line_end;
                }
            }
            const bool is_last = i + 1 == places.size();
            if (is_row) {
                put(words_[next_++]);
                if (!is_last) line += ' ';
            } else {
                text += indent + part(depth + 1, width - 1) + (is_last ? "" : line_end);
            }
        }
        if (is_row) text += line;
        return '[' + (text.size() > indent.size() ? text.substr(indent.size()) : std::string()) + ']';
    }

    Shape shape_;
    const Shown& shown_;
    std::vector<std::string> words_;
    std::size_t next_ = 0;
};

template <typename Number>
Number load(const std::byte* from) {
    Number number;
    std::memcpy(&number, from, sizeof number);
    return number;
}

template <typename Number>
Element integer_at(const std::byte* from) {
    Element element;
    if constexpr (std::is_signed_v<Number>) {
        element.type = Element::Type::integer;
        element.integer = load<Number>(from);
    } else {
        element.type = Element::Type::natural;
        element.natural = load<Number>(from);
    }
    return element;
}

Element element_at(Dtype dtype, const std::byte* from) {
    Element element;
    switch (dtype) {
        case Dtype::BOOL:
            element.type = Element::Type::boolean;
            element.natural = load<std::uint8_t>(from);
            return element;
        case Dtype::U8: return integer_at<std::uint8_t>(from);
        case Dtype::I8: return integer_at<std::int8_t>(from);
        case Dtype::I16: return integer_at<std::int16_t>(from);
        case Dtype::U16: return integer_at<std::uint16_t>(from);
        case Dtype::I32: return integer_at<std::int32_t>(from);
        case Dtype::U32: return integer_at<std::uint32_t>(from);
        case Dtype::I64: return integer_at<std::int64_t>(from);
        case Dtype::U64: return integer_at<std::uint64_t>(from);
        case Dtype::F64: element.real = load<double>(from); return element;
        case Dtype::C64:
            element.type = Element::Type::complex;
            element.real = load<float>(from);
            element.imaginary = load<float>(from + sizeof(float));
            return element;
        default: element.real = load<float>(from); return element;  // F32, and what was widened
    }
}

}  // namespace

std::vector<Element> elements_of(Dtype dtype, std::span<const std::byte> bytes) {
    const std::size_t size = can_widen(dtype) ? sizeof(float) : bits(dtype) / 8;
    std::vector<Element> elements;
    for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
        elements.push_back(element_at(dtype, bytes.data() + at));
    }
    return elements;
}

std::uint64_t Shown::elements() const {
    std::uint64_t product = 1;
    for (const auto& indices : places) product *= indices.size();
    return product;
}

Shown shown_of(Shape shape) {
    Shown shown;
    std::uint64_t elements = 1;
    for (const std::uint64_t size : shape) elements *= size;
    shown.is_shortened = elements > threshold;
    for (const std::uint64_t size : shape) {
        std::vector<std::uint64_t>& places = shown.places.emplace_back();
        const bool is_cut = shown.is_shortened && size > 2 * edge;
        for (std::uint64_t i = 0; i < (is_cut ? edge : elements == 0 ? 0 : size); ++i) places.push_back(i);
        for (std::uint64_t i = is_cut ? size - edge : size; i < size; ++i) places.push_back(i);
    }
    return shown;
}

std::string array_text(Dtype dtype, Shape shape, const Shown& shown, const std::vector<Element>& elements) {
    if (elements.empty()) return "[]";
    const bool is_real =
        elements.front().type == Element::Type::real || elements.front().type == Element::Type::complex;
    if (shape.empty() && is_real) return scalar_text(elements.front(), digits_of(dtype));
    std::vector<std::string> words = words_of(dtype, elements);
    if (shape.empty()) return trimmed(words.front());
    return Printer(shape, shown, std::move(words)).print();
}

}  // namespace tensorfs
