#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fs/showing/colours.hpp"

namespace tensorfs {

/// A picture in memory, white at first. What would lie outside is not drawn.
class Canvas {
public:
    Canvas(std::size_t width, std::size_t height);

    [[nodiscard]] std::size_t width() const { return width_; }
    [[nodiscard]] std::size_t height() const { return height_; }
    [[nodiscard]] Colour at(std::size_t x, std::size_t y) const { return pixels_[y * width_ + x]; }

    void fill(std::size_t x, std::size_t y, std::size_t width, std::size_t height, Colour colour);
    /// The outline of a rectangle, one pixel wide, just outside of it. REQUIRES: x and y are at least 1.
    void frame(std::size_t x, std::size_t y, std::size_t width, std::size_t height, Colour colour);
    /// Text in black with its upper left corner at (x, y), each pixel of the font two wide and high.
    void write(std::size_t x, std::size_t y, std::string_view text);

private:
    std::size_t width_;
    std::size_t height_;
    std::vector<Colour> pixels_;
};

/// Pixels that a character and a line of text take; what is below the line comes on top of that.
inline constexpr std::size_t character_width = 12;
inline constexpr std::size_t text_height = 14;

}  // namespace tensorfs
