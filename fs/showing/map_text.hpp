#pragma once

#include <cstdint>
#include <string>

#include "fs/showing/portrait.hpp"

namespace tensorfs {

// What is said beside a heat map.

/// How many of its cells are not on the scale.
struct MapContents {
    std::uint64_t nans = 0;
    std::uint64_t infinities = 0;
    std::uint64_t beyond = 0;  // finite, but past the scale's end
};

MapContents contents_of(const HeatMap& map, double limit);

/// Which part of a tensor it is, and what its cells are: "[0,0,:,:] (others by --slice), averages of 300 x 500".
std::string map_caption(const HeatMap& map, const Matrix& matrix, CellValue value);
/// The same without the words in brackets, for a picture.
std::string short_map_caption(const HeatMap& map, const Matrix& matrix, CellValue value);

}  // namespace tensorfs
