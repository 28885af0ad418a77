#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.hpp"
#include "core/numbers/heat_map.hpp"
#include "core/numbers/histogram.hpp"
#include "core/numbers/statistics.hpp"

namespace tensorfs {

/// The matrix of a tensor that a heat map shows: its last two dimensions, at an index of each before them. A vector is
/// one row, and a scalar one element.
struct Matrix {
    std::uint64_t rows = 0;
    std::uint64_t columns = 0;
    std::uint64_t first = 0;  // the number of its first element in the tensor
    std::string place{};      // such as "[0,3,:,:]"; empty where it is the whole tensor
    bool is_default = true;   // whether nobody asked for that place

    [[nodiscard]] std::uint64_t elements() const { return rows * columns; }
};

/// The matrix that `slice` names by its indices, such as "0,3", or the first one if it is empty. Throws Failure
/// (usage). A tensor of no elements has an empty one.
Matrix matrix_of(Shape shape, std::string_view slice);

/// The most that there is room for.
struct PortraitSize {
    std::size_t height;  // cells of the heat map
    std::size_t width;
    std::size_t bins;
};

/// A tensor's numbers as a person wants to see them.
struct Portrait {
    Statistics statistics;               // of the whole tensor
    std::optional<Histogram> histogram;  // of the whole tensor; none unless there are two finite numbers that differ
    std::optional<HeatMap> heat_map;     // of the matrix; none if that is empty
};

/// Reads a tensor: for its statistics in parallel, with a progress bar, then for the pictures. The histogram has all
/// numbers, or, where a few lie far off, nearly all. Throws Error (SystemError). REQUIRES: the model is mapped;
/// `tensor` is an index in Model::tensors().
Portrait portray(const Model& model, std::uint32_t tensor, const Matrix& matrix, CellValue value,
                 const PortraitSize& size);

}  // namespace tensorfs
