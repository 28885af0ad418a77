#pragma once

// What the numbers of a tensor are. Minimum, maximum, mean and standard deviation are those of the finite numbers, and
// the others are counted beside them: one NaN among a billion weights is a thing to know, and so is what the billion
// are. Where there is no finite number, minimum and maximum are none, and mean and deviation are NaN.
//
// What is a number is said in numbers.hpp; minimum and maximum of integers are exact. The deviation is the population's
// (a division by the count), as numpy.std() has it. Batches of numbers are summed in double, about their own mean, and
// then merged, so that a large mean costs no digits (T. Chan, G. Golub and R. LeVeque, "Updating Formulae and a
// Pairwise Algorithm for Computing Sample Variances", 1979). Mean and deviation of F64 beyond a double's range are
// infinite or NaN.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/numbers/number.hpp"
#include "core/tensors/dtype.hpp"

namespace tensorfs {

/// A plain value. Statistics of parts make those of the whole.
struct Statistics {
    std::uint64_t elements = 0;
    std::uint64_t zeros = 0;
    std::uint64_t nans = 0;
    std::uint64_t infinities = 0;  // of either sign
    std::uint64_t negative_infinities = 0;

    // Of the finite numbers.
    std::optional<Number> minimum;
    std::optional<Number> maximum;
    double mean_or_zero = 0;  // 0 where there are none
    double squares = 0;       // the sum of the squares of their distances from the mean

    [[nodiscard]] std::uint64_t finite() const { return elements - nans - infinities; }
    [[nodiscard]] double mean() const;
    [[nodiscard]] double deviation() const;
    /// Whether it is two elements or more that are all one finite value; zeros are, whatever their sign.
    [[nodiscard]] bool is_constant() const;

    void add(const Statistics& other);
};

/// Of elements, little-endian, at any address. REQUIRES: whole blocks. Any thread may call it.
Statistics statistics_of(Dtype dtype, std::span<const std::byte> elements);

}  // namespace tensorfs
