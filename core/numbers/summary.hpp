#pragma once

#include <cstddef>
#include <cstdint>

#include "core/tensors/processor.hpp"

namespace tensorfs {

/// What is known of a batch of numbers once it was gone through.
struct Summary {
    double minimum;
    double maximum;
    double mean;
    double squares;  // the sum of the squares of the distances from the mean
    std::uint64_t zeros;
    bool is_finite;  // whether the numbers are, and their sum; what else is said holds only then
};

/// Goes through `count` numbers, twice, in the vector units of the processor that is there. The figures are the same
/// on every processor. REQUIRES: count >= 1. Any thread may call it.
Summary summarise(const float* values, std::size_t count);
Summary summarise(const double* values, std::size_t count);

/// The same by code for one processor, for those who compare them. REQUIRES besides: runs_here(processor).
Summary summarise(Processor processor, const float* values, std::size_t count);
Summary summarise(Processor processor, const double* values, std::size_t count);

}  // namespace tensorfs
