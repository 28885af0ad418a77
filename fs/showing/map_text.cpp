#include "fs/showing/map_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "fs/terminal/quantity_text.hpp"

namespace tensorfs {

MapContents contents_of(const HeatMap& map, double limit) {
    MapContents contents;
    for (std::size_t y = 0; y < map.height(); ++y) {
        for (std::size_t x = 0; x < map.width(); ++x) {
            const double number = map.cell(y, x);
            if (std::isnan(number)) {
                ++contents.nans;
            } else if (std::isinf(number)) {
                ++contents.infinities;
            } else if (std::fabs(number) > limit) {
                ++contents.beyond;
            }
        }
    }
    return contents;
}

std::string map_caption(const HeatMap& map, const Matrix& matrix, CellValue value) {
    if (matrix.place.empty() || !matrix.is_default) return short_map_caption(map, matrix, value);
    Matrix said = matrix;
    said.place += " (others by --slice)";
    return short_map_caption(map, said, value);
}

std::string short_map_caption(const HeatMap& map, const Matrix& matrix, CellValue value) {
    std::string text = matrix.place.empty() ? "" : matrix.place + ", ";
    const bool is_each = map.height() == map.rows() && map.width() == map.columns();
    text += is_each ? "each element" : value == CellValue::average ? "averages" : "largest magnitudes";
    return text + fmt::format(" of {} x {}", with_commas(map.rows()), with_commas(map.columns()));
}

}  // namespace tensorfs
