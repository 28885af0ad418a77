#pragma once

#include <vector>

#include "core/model/model.hpp"
#include "core/tensors/tensor.hpp"
#include "fs/comparing/difference.hpp"

namespace tensorfs {

/// Tensors of one name in two models.
struct Pair {
    const Tensor* a;          // null where only the second model has it
    const Tensor* b;          // null where only the first has
    Difference difference{};  // of no elements unless is_compared()

    [[nodiscard]] bool is_in_both() const { return a != nullptr && b != nullptr; }
    /// REQUIRES for these: is_in_both().
    [[nodiscard]] bool has_same_dtype() const { return a->dtype() == b->dtype(); }
    [[nodiscard]] bool has_same_shape() const;
    /// Whether its elements can be compared, and were.
    [[nodiscard]] bool is_compared() const { return has_same_shape() && are_comparable(a->dtype(), b->dtype()); }
};

/// What differs between two models, in byte order of the names: what one of them lacks, and tensors whose dtypes,
/// shapes or elements are not the same. Reads all elements that can be compared, in parallel, a few MB to a thread, and
/// shows how far it is. Types that differ are measured in full, others as `measure` says. The result refers to the
/// models. Throws Error (SystemError). REQUIRES: both are mapped.
std::vector<Pair> compare(const Model& a, const Model& b, Measure measure);

}  // namespace tensorfs
