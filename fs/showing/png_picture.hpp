#pragma once

#include <string>
#include <vector>

#include "fs/showing/canvas.hpp"
#include "fs/showing/portrait.hpp"

namespace tensorfs {

/// The most cells that a picture has.
inline constexpr PortraitSize png_size{1024, 1024, 64};

/// A portrait's heat map with its axes, its colour scale and the lines of `title` above it. Small maps are drawn
/// larger. A tensor of no elements is a picture that says so.
Canvas png_picture(const Portrait& portrait, const Matrix& matrix, CellValue value,
                   const std::vector<std::string>& title);

}  // namespace tensorfs
