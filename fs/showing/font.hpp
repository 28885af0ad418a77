#pragma once

#include <cstddef>

namespace tensorfs {

/// A font of 5 × 9 pixels, drawn for labels in pictures, of which the last two are below the line; a character takes 6
/// in width.
inline constexpr std::size_t glyph_width = 5;
inline constexpr std::size_t glyph_height = 9;
inline constexpr std::size_t glyph_step = 6;

/// Whether a pixel of a character is set. Characters that are not printable ASCII look like '?'.
/// REQUIRES: x < glyph_width, y < glyph_height.
bool glyph_pixel(char character, std::size_t x, std::size_t y);

}  // namespace tensorfs
