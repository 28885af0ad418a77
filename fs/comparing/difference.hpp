#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/tensors/dtype.hpp"

namespace tensorfs {

/// How the elements of two tensors of the same shape differ, or those of a stretch of them. What can be measured is
/// the distance |a - b| of two numbers; a square beyond a double's range is infinite.
struct Difference {
    std::uint64_t elements = 0;   // that were compared
    std::uint64_t differing = 0;  // of these
    std::uint64_t nans = 0;       // of those that differ, NaN in one or both: no distance
    double largest = 0;           // distance
    double sum = 0;               // of distances
    double squares = 0;           // the sum of their squares
    double own_squares = 0;       // the same of the first tensor's numbers, but for infinite ones

    void add(const Difference& other);
    /// One more element: of the first tensor's `magnitude`, and `apart` from the second's; NaN where that is no number.
    void add(bool is_same, double magnitude, double apart);

    // Over all elements but NaNs that differ; 0 where there are none.
    [[nodiscard]] double mean() const;
    /// Root mean square of the distances.
    [[nodiscard]] double rms() const;
    /// The same as a part of the first tensor's root mean square: infinite where only that is 0.
    [[nodiscard]] double relative_rms() const;
};

/// Whether elements of these types can be compared: complex numbers only with each other.
bool are_comparable(Dtype a, Dtype b);

/// What own_squares costs: it needs the numbers of elements that are the same, too.
enum class Measure : std::uint8_t { distances, distances_and_own_squares };

/// Compares elements, little-endian. Those of one type are the same if their bits are, or their numbers where they
/// share bytes; those of two types, if their numbers are, or both are NaN. A number is a double: floats are widened,
/// quantised ones computed, integers beyond 2^53 rounded, and BOOL is 0 or 1. Any thread may call it.
/// REQUIRES: are_comparable(); as many elements of both, in whole blocks of both.
Difference compare_elements(Dtype a_type, std::span<const std::byte> a, Dtype b_type, std::span<const std::byte> b,
                            Measure measure);

}  // namespace tensorfs
