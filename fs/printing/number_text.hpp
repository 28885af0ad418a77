#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/tensors/dtype.hpp"

namespace tensorfs {

// Real numbers as NumPy prints them: with as many digits as tell a value from its neighbours of the same
// type, at most 8 behind the point in an array.

/// What tells a value of a type from its neighbours.
struct Digits {
    int mantissa_bits;
    int smallest_exponent;
};

Digits digits_of(Dtype dtype);

/// A number by itself, as Python prints one: with all digits that tell it from its neighbours. Whole
/// numbers have ".0" behind them if `needs_point`.
std::string scalar_text(double value, const Digits& type, bool needs_point);

/// Prints real numbers of one column: all of them have the same width.
class RealFormat {
public:
    RealFormat(const std::vector<double>& values, Digits type);

    [[nodiscard]] std::string operator()(double value) const;

private:
    /// What stands behind the point.
    [[nodiscard]] std::size_t tail_width() const;

    Digits type_;
    bool is_scientific_ = false;
    std::size_t before_ = 0;
    std::size_t behind_ = 0;
    int exponent_digits_ = 0;
};

}  // namespace tensorfs
