#include "fs/printing/array_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/tensors/widen.hpp"
#include "fs/printing/number_text.hpp"

namespace tensorfs {
namespace {

// NumPy's defaults: numpy.set_printoptions.
constexpr std::uint64_t threshold = 1000;
constexpr std::uint64_t edge = 3;
constexpr std::size_t line_width = 75;

std::string trimmed(std::string text) {
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
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
                // The i follows the digits; blanks follow it up to the width.
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
    const std::size_t size = can_widen(dtype) ? sizeof(float) : block_of(dtype).nbytes;
    std::vector<Element> elements;
    for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
        elements.push_back(element_at(dtype, bytes.data() + at));
    }
    return elements;
}

std::uint64_t Shown::elements() const {
    std::uint64_t product = 1;
    for (const auto& indices : places) {
        if (__builtin_mul_overflow(product, std::uint64_t{indices.size()}, &product)) return UINT64_MAX;
    }
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
