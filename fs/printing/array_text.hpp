#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/tensors/dtype.hpp"
#include "core/tensors/tensor.hpp"

namespace tensorfs {

/// The value of an element, to be printed.
struct Element {
    enum class Type : std::uint8_t { boolean, integer, natural, real, complex };
    Type type = Type::real;
    std::int64_t integer = 0;
    std::uint64_t natural = 0;  // a boolean, too
    double real = 0;
    double imaginary = 0;
};

/// Elements of this type from their bytes. Narrow floats come widened: `bytes` are float32 then.
std::vector<Element> elements_of(Dtype dtype, std::span<const std::byte> bytes);

/// Which elements of an array are shown: of a long dimension, only its ends.
struct Shown {
    std::vector<std::vector<std::uint64_t>> places;  // by dimension, the indices shown
    bool is_shortened = false;

    /// How many elements are shown.
    [[nodiscard]] std::uint64_t elements() const;
};

/// What print() of NumPy shows of an array: all of up to 1000 elements, else the first and last three
/// of each dimension that has more than six.
Shown shown_of(Shape shape);

/// The elements shown, as NumPy prints an array: brackets, "..." for what is left out, numbers of one width with as
/// many digits as tell them from their neighbours of the same type, at most 8 after the point, and lines of 75
/// characters.
std::string array_text(Dtype dtype, Shape shape, const Shown& shown, const std::vector<Element>& elements);

}  // namespace tensorfs
