#include "fs/showing/png_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fs/showing/map_text.hpp"
#include "fs/showing/statistics_text.hpp"
#include "fs/terminal/quantity_text.hpp"

namespace tensorfs {
namespace {

// All in pixels.
constexpr std::size_t gap = 10;  // between parts, and around all
constexpr std::size_t line_step = text_height + 8;
constexpr std::size_t tick = 6;
constexpr std::size_t bar_width = 28;  // of the colour scale
constexpr std::size_t most_bar = 512;
constexpr std::size_t least_bar = 160;    // its height
constexpr std::size_t least_width = 640;  // of the picture, for the sake of its title
constexpr Colour grey{120, 120, 120};

std::size_t text_width(std::string_view text) { return text.size() * character_width; }

/// How large a cell is drawn: so that the longer side has some 512 pixels, and the other one can be seen.
struct CellSize {
    std::size_t width;
    std::size_t height;

    explicit CellSize(const HeatMap& map) {
        constexpr std::size_t wanted = 512;
        constexpr std::size_t largest = 64;
        constexpr std::size_t thinnest = 48;  // of the whole map
        const std::size_t zoom = std::clamp<std::size_t>(wanted / std::max(map.width(), map.height()), 1, largest);
        width = std::max(zoom, (thinnest + map.width() - 1) / map.width());
        height = std::max(zoom, (thinnest + map.height() - 1) / map.height());
    }
};

/// Steps of 1, 2 or 5 times a power of ten, few enough that so many ticks have room.
std::uint64_t tick_step(std::uint64_t count, std::size_t most_ticks) {
    const std::uint64_t least = count / std::max<std::size_t>(most_ticks, 1) + 1;
    for (std::uint64_t power = 1;; power *= 10) {
        for (const std::uint64_t factor : {1U, 2U, 5U}) {
            if (factor * power >= least) return factor * power;
        }
    }
}

/// Where the middle of row (or column) `index` of `count` is on an axis of so many pixels.
std::size_t tick_place(std::uint64_t index, std::uint64_t count, std::size_t pixels) {
    const double place = (static_cast<double>(index) + 0.5) / static_cast<double>(count) * static_cast<double>(pixels);
    return std::min(static_cast<std::size_t>(place), pixels - 1);
}

struct Area {
    std::size_t x;
    std::size_t y;
    std::size_t width;
    std::size_t height;
};

void draw_cells(Canvas& canvas, const Area& area, const HeatMap& map, const CellSize& size, double limit) {
    for (std::size_t y = 0; y < map.height(); ++y) {
        for (std::size_t x = 0; x < map.width(); ++x) {
            canvas.fill(area.x + x * size.width, area.y + y * size.height, size.width, size.height,
                        colour_of(map.cell(y, x), limit));
        }
    }
    canvas.frame(area.x, area.y, area.width, area.height, grey);
}

void draw_axes(Canvas& canvas, const Area& area, const HeatMap& map) {
    const std::uint64_t row_step = tick_step(map.rows(), area.height / (2 * line_step));
    for (std::uint64_t row = 0; row < map.rows(); row += row_step) {
        const std::size_t y = area.y + tick_place(row, map.rows(), area.height);
        const std::string text = std::to_string(row);
        canvas.fill(area.x - 1 - tick, y, tick, 1, grey);
        canvas.write(area.x - 2 * tick - text_width(text), y - text_height / 2, text);
    }
    const std::size_t label_width = text_width(std::to_string(map.columns())) + 2 * character_width;
    const std::uint64_t column_step = tick_step(map.columns(), area.width / label_width);
    for (std::uint64_t column = 0; column < map.columns(); column += column_step) {
        const std::size_t x = area.x + tick_place(column, map.columns(), area.width);
        const std::string text = std::to_string(column);
        canvas.fill(x, area.y + area.height + 1, 1, tick, grey);
        canvas.write(x - std::min(x, text_width(text) / 2), area.y + area.height + 2 * tick, text);
    }
}

/// The labels of the scale, from above.
std::vector<std::string> scale_labels(double limit) {
    if (limit == 0) return {"0"};
    std::vector<std::string> labels;
    for (const double part : {1.0, 0.5, 0.0, -0.5, -1.0}) labels.push_back(fmt::format("{:.3g}", limit * part));
    labels[2] = "0";
    return labels;
}

void draw_scale(Canvas& canvas, const Area& bar, double limit, const MapContents& contents) {
    const auto half = static_cast<double>(bar.height - 1) / 2;
    for (std::size_t y = 0; y < bar.height; ++y) {
        const double part = limit == 0 ? 0 : 1 - static_cast<double>(y) / half;
        canvas.fill(bar.x, bar.y + y, bar.width, 1, colour_of(part, 1));
    }
    canvas.frame(bar.x, bar.y, bar.width, bar.height, grey);
    const std::vector<std::string> labels = scale_labels(limit);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::size_t y = labels.size() == 1 ? bar.height / 2 : i * (bar.height - 1) / (labels.size() - 1);
        canvas.fill(bar.x + bar.width + 1, bar.y + y, tick, 1, grey);
        canvas.write(bar.x + bar.width + 2 * tick, bar.y + y - text_height / 2, labels[i]);
    }
    std::size_t y = bar.y + bar.height + line_step;
    const auto swatch = [&](Colour colour, std::string_view what) {
        canvas.fill(bar.x, y, bar.width, text_height, colour);
        canvas.frame(bar.x, y, bar.width, text_height, grey);
        canvas.write(bar.x + bar.width + 2 * tick, y, what);
        y += line_step;
    };
    if (contents.nans != 0) swatch(nan_colour, "NaN");
    if (contents.infinities != 0) swatch(infinity_colour, "infinity");
}

/// The text, or its beginning and end, in so many pixels.
std::string shortened(const std::string& text, std::size_t width) {
    const std::size_t room = width / character_width;
    if (text.size() <= room) return text;
    const std::size_t end = (room - 3) / 2;
    return text.substr(0, room - 3 - end) + "..." + text.substr(text.size() - end);
}

}  // namespace

Canvas png_picture(const Portrait& portrait, const Matrix& matrix, CellValue value,
                   const std::vector<std::string>& title) {
    const std::size_t title_height = gap + title.size() * line_step;
    const auto write_title = [&](Canvas& canvas) {
        for (std::size_t i = 0; i < title.size(); ++i)
            canvas.write(gap, gap + i * line_step, shortened(title[i], canvas.width() - 2 * gap));
    };
    if (!portrait.heat_map) {
        Canvas canvas(least_width, title_height + line_step + gap);
        write_title(canvas);
        canvas.write(gap, title_height, "no elements");
        return canvas;
    }
    const HeatMap& map = *portrait.heat_map;
    const double limit = map.limit();
    const MapContents contents = contents_of(map, limit);
    const CellSize size(map);
    const std::size_t left = gap + text_width(std::to_string(map.rows())) + 3 * tick;
    const std::string caption = short_map_caption(map, matrix, value);
    const Area area{left, title_height + line_step + gap, map.width() * size.width, map.height() * size.height};
    const Area bar{left + area.width + 3 * gap, area.y, bar_width, std::clamp(area.height, least_bar, most_bar)};
    constexpr std::size_t label_characters = 11;
    const std::size_t width =
        std::max(bar.x + bar.width + 2 * tick + label_characters * character_width + gap, least_width);
    const std::size_t swatches = (contents.nans != 0 ? 1 : 0) + (contents.infinities != 0 ? 1 : 0);
    const std::size_t below_bar = bar.y + bar.height + (swatches + 1) * line_step;
    const std::size_t below_map = area.y + area.height + 2 * tick + line_step;
    Canvas canvas(width, std::max(below_bar, below_map + (contents.beyond != 0 ? line_step : 0)) + gap);
    write_title(canvas);
    canvas.write(gap, title_height, shortened(caption, width - 2 * gap));
    draw_cells(canvas, area, map, size, limit);
    draw_axes(canvas, area, map);
    draw_scale(canvas, bar, limit, contents);
    if (contents.beyond != 0) {
        canvas.write(gap, below_map + 2,
                     shortened(counted(contents.beyond, "cell") + " beyond the scale", bar.x - gap));
    }
    return canvas;
}

}  // namespace tensorfs
