#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tensorfs {

/// What stands for the elements of a cell.
enum class CellValue : std::uint8_t {
    average,  // of the finite ones
    largest,  // the one of the largest magnitude, with its sign, of the finite ones
};

/// A matrix as a picture of a bounded size: a grid of cells, each for a rectangle of elements. For one thread.
class HeatMap {
public:
    /// Of a matrix of rows × columns, in at most most_height × most_width cells: as many as it has rows and columns
    /// where these are fewer. REQUIRES: all are at least 1, the limits at most 65,536, the matrix's at most 2^47.
    HeatMap(std::uint64_t rows, std::uint64_t columns, std::size_t most_height, std::size_t most_width,
            CellValue value);

    /// The elements from number `first` on, row-major. REQUIRES: they are within the matrix, and each comes once.
    void add(std::uint64_t first, std::span<const double> numbers);

    [[nodiscard]] std::uint64_t rows() const { return rows_; }
    [[nodiscard]] std::uint64_t columns() const { return columns_; }
    [[nodiscard]] std::size_t height() const { return height_; }
    [[nodiscard]] std::size_t width() const { return width_; }

    /// NaN where there is a NaN in it; infinite where there is an infinity, with the sign of the last one.
    [[nodiscard]] double cell(std::size_t y, std::size_t x) const;

    /// A magnitude that nearly all cells keep below, for a scale that single outliers do not spoil: the largest one
    /// unless that is more than twice what 99 % of the cells keep to, then 1.5 times that. 0 where all are 0, or none
    /// is finite.
    [[nodiscard]] double limit() const;

private:
    struct Cell {
        double value = 0;  // the sum, or the largest
        double odd = 0;    // NaN or an infinity, if there is one
        std::uint64_t finite = 0;
    };

    void add_to(Cell& cell, double number) const;

    std::uint64_t rows_;
    std::uint64_t columns_;
    std::size_t height_;
    std::size_t width_;
    CellValue value_;
    std::vector<Cell> cells_;
};

}  // namespace tensorfs
