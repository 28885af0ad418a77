#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/tensors/dtype.hpp"

namespace tensorfs {

// Real numbers as NumPy prints them: with as many digits as tell a value from its neighbours of the same type, in an
// array at most 8 after the point.

/// What tells a value of a type from its neighbours.
struct Digits {
    int mantissa_bits;
    int smallest_exponent;
};

Digits digits_of(Dtype dtype);

/// A number by itself, as Python prints it: with all digits that tell it from its neighbours. Whole numbers end in ".0"
/// if `needs_point`.
std::string scalar_text(double value, const Digits& type, bool needs_point);

/// Prints the real numbers of an array, all in the same width.
class RealFormat {
public:
    RealFormat(const std::vector<double>& values, Digits type);

    [[nodiscard]] std::string operator()(double value) const;

private:
    /// Of all that follows the integer part.
    [[nodiscard]] std::size_t tail_width() const;

    Digits type_;
    bool is_scientific_ = false;
    std::size_t before_ = 0;
    std::size_t behind_ = 0;
    int exponent_digits_ = 0;
};

}  // namespace tensorfs
