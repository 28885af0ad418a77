#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/tensors/tensor.hpp"

namespace tensorfs {

/// A part of a tensor, as NumPy's basic slicing selects it: of each dimension an index, or a range with a step.
class Slicing {
public:
    /// The whole of a tensor of that shape.
    explicit Slicing(Shape shape);
    /// What a text such as "0:4,:,-1,::2" selects: from the outermost dimension on, each an index or START:STOP:STEP,
    /// parts of which may be omitted. An index removes its dimension from the result; negative numbers count from the
    /// end; dimensions not named are taken whole. Throws Failure (usage) for any other text, an index out of range, too
    /// many dimensions, or a step below 1.
    Slicing(Shape shape, std::string_view text);

    /// The result's shape.
    [[nodiscard]] const std::vector<std::uint64_t>& shape() const { return shape_; }
    [[nodiscard]] std::uint64_t elements() const;
    [[nodiscard]] bool is_all() const { return is_all_; }

    /// The number in the tensor, in C order, of the result's element with these indices.
    [[nodiscard]] std::uint64_t element(const std::vector<std::uint64_t>& indices) const;

    /// Neighbouring elements of the tensor: `count` from number `first` on, of which every `step`-th is selected.
    struct Run {
        std::uint64_t first;
        std::uint64_t count;
        std::uint64_t step;
    };
    /// Calls `visit(run)` for all of them, in C order of the result.
    template <typename Visit>
    void visit_runs(Visit&& visit) const;

private:
    struct Dimension {
        std::uint64_t size;  // of the tensor
        std::uint64_t first;
        std::uint64_t count;
        std::uint64_t step;
        bool is_kept = true;  // in the result's shape
        bool is_whole() const { return first == 0 && step == 1 && count == size; }
    };

    std::vector<Dimension> dimensions_;
    std::vector<std::uint64_t> shape_;
    bool is_all_ = true;
};

template <typename Visit>
void Slicing::visit_runs(Visit&& visit) const {
    if (elements() == 0) return;
    // The innermost dimensions that are whole are one block; the one before them is the run.
    std::uint64_t block = 1;
    std::size_t last = dimensions_.size();
    while (last > 0 && dimensions_[last - 1].is_whole()) block *= dimensions_[--last].size;
    if (last == 0) {
        visit(Run{0, block, 1});
        return;
    }
    const Dimension& run = dimensions_[last - 1];
    std::vector<std::uint64_t> strides(last);
    std::uint64_t stride = block;
    for (std::size_t i = last; i-- > 0; stride *= dimensions_[i].size) strides[i] = stride;

    std::vector<std::uint64_t> at(last - 1);  // counts through the outer dimensions
    for (;;) {
        std::uint64_t first = run.first * block;
        for (std::size_t i = 0; i + 1 < last; ++i) {
            first += (dimensions_[i].first + at[i] * dimensions_[i].step) * strides[i];
        }
        if (run.step == 1) {
            visit(Run{first, run.count * block, 1});
        } else if (block == 1) {
            visit(Run{first, (run.count - 1) * run.step + 1, run.step});
        } else {
            for (std::uint64_t i = 0; i < run.count; ++i) visit(Run{first + i * run.step * block, block, 1});
        }
        std::size_t i = last - 1;
        for (; i > 0; --i) {
            if (++at[i - 1] < dimensions_[i - 1].count) break;
            at[i - 1] = 0;
        }
        if (i == 0) return;
    }
}

}  // namespace tensorfs
