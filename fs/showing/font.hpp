#pragma once

#include <cstddef>

namespace tensorfs {

/// A font of 5 × 7 pixels, drawn for labels in pictures; a line of text takes 6 pixels a character.
inline constexpr std::size_t glyph_width = 5;
inline constexpr std::size_t glyph_height = 7;
inline constexpr std::size_t glyph_step = 6;

/// Whether a pixel of a character is set. Characters that are not printable ASCII look like '?'.
/// REQUIRES: x < glyph_width, y < glyph_height.
bool glyph_pixel(char character, std::size_t x, std::size_t y);

}  // namespace tensorfs
