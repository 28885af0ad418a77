#include "core/numbers/heat_map.hpp"

#include <algorithm>
#include <cmath>

namespace tensorfs {

HeatMap::HeatMap(std::uint64_t rows, std::uint64_t columns, std::size_t most_height, std::size_t most_width,
                 CellValue value)
    : rows_(rows),
      columns_(columns),
      height_(std::min<std::uint64_t>(rows, most_height)),
      width_(std::min<std::uint64_t>(columns, most_width)),
      value_(value),
      cells_(height_ * width_) {}

void HeatMap::add(std::uint64_t first, std::span<const double> numbers) {
    std::uint64_t row = first / columns_;
    std::uint64_t column = first % columns_;
    for (std::size_t i = 0; i < numbers.size();) {
        Cell* const line = &cells_[row * height_ / rows_ * width_];
        const std::size_t end = i + std::min<std::uint64_t>(numbers.size() - i, columns_ - column);
        while (i < end) {
            const std::uint64_t x = column * width_ / columns_;
            const std::uint64_t next = ((x + 1) * columns_ + width_ - 1) / width_;  // the next cell's first column
            const std::size_t stop = i + std::min<std::uint64_t>(end - i, next - column);
            column += stop - i;
            for (; i < stop; ++i) add_to(line[x], numbers[i]);
        }
        column = 0;
        ++row;
    }
}

void HeatMap::add_to(Cell& cell, double number) const {
    if (!std::isfinite(number)) {
        if (!std::isnan(cell.odd)) cell.odd = number;
        return;
    }
    ++cell.finite;
    if (value_ == CellValue::average) {
        cell.value += number;
    } else if (std::fabs(number) > std::fabs(cell.value)) {
        cell.value = number;
    }
}

double HeatMap::cell(std::size_t y, std::size_t x) const {
    const Cell& cell = cells_[y * width_ + x];
    if (cell.odd != 0) return cell.odd;  // a NaN is not 0 either
    return value_ == CellValue::average ? cell.value / static_cast<double>(cell.finite) : cell.value;
}

double HeatMap::limit() const {
    std::vector<double> magnitudes;
    magnitudes.reserve(cells_.size());
    for (std::size_t y = 0; y < height_; ++y) {
        for (std::size_t x = 0; x < width_; ++x) {
            if (std::isfinite(cell(y, x))) magnitudes.push_back(std::fabs(cell(y, x)));
        }
    }
    if (magnitudes.empty()) return 0;
    const auto most = magnitudes.begin() + static_cast<std::ptrdiff_t>((magnitudes.size() - 1) * 99 / 100);
    std::nth_element(magnitudes.begin(), most, magnitudes.end());
    const double common = *most;
    const double largest = *std::max_element(most, magnitudes.end());
    return common > 0 && largest > 2 * common ? 1.5 * common : largest;
}

}  // namespace tensorfs
