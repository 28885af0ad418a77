#include "fs/showing/canvas.hpp"

#include <algorithm>

#include "fs/showing/font.hpp"

namespace tensorfs {
namespace {

constexpr Colour white{255, 255, 255};
constexpr Colour black{0, 0, 0};
constexpr std::size_t font_scale = 2;

static_assert(glyph_step * font_scale == character_width && (glyph_height - 2) * font_scale == text_height);

}  // namespace

Canvas::Canvas(std::size_t width, std::size_t height)
    : width_(width), height_(height), pixels_(width * height, white) {}

void Canvas::fill(std::size_t x, std::size_t y, std::size_t width, std::size_t height, Colour colour) {
    const std::size_t right = std::min(x + width, width_);
    const std::size_t bottom = std::min(y + height, height_);
    for (; y < bottom; ++y) {
        for (std::size_t i = x; i < right; ++i) pixels_[y * width_ + i] = colour;
    }
}

void Canvas::frame(std::size_t x, std::size_t y, std::size_t width, std::size_t height, Colour colour) {
    fill(x - 1, y - 1, width + 2, 1, colour);
    fill(x - 1, y + height, width + 2, 1, colour);
    fill(x - 1, y, 1, height, colour);
    fill(x + width, y, 1, height, colour);
}

void Canvas::write(std::size_t x, std::size_t y, std::string_view text) {
    for (const char character : text) {
        for (std::size_t j = 0; j < glyph_height; ++j) {
            for (std::size_t i = 0; i < glyph_width; ++i) {
                if (glyph_pixel(character, i, j))
                    fill(x + i * font_scale, y + j * font_scale, font_scale, font_scale, black);
            }
        }
        x += character_width;
    }
}

}  // namespace tensorfs
