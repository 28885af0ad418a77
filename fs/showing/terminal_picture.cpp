#include "fs/showing/terminal_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "fs/showing/colours.hpp"
#include "fs/showing/map_text.hpp"
#include "fs/showing/statistics_text.hpp"
#include "fs/terminal/quantity_text.hpp"

namespace tensorfs {
namespace {

/// Of labels at the left, with the space behind them.
constexpr std::size_t margin = 9;
/// Lines that are no picture: the verb's own above it, titles, axes, scale, and the shell's prompt.
constexpr std::size_t other_lines = 11;

std::size_t histogram_lines(const Screen& screen) { return std::clamp<std::size_t>(screen.lines / 6, 3, 10); }

std::size_t map_lines(const Screen& screen) {
    const std::size_t taken = other_lines + histogram_lines(screen);
    return screen.lines > taken + 3 ? screen.lines - taken : 3;
}

/// A label of the left margin.
std::string label(std::string_view text) { return fmt::format("{:>{}} ", text, margin - 1); }

std::string short_count(std::uint64_t count) {
    constexpr std::array<char, 6> units{'k', 'M', 'G', 'T', 'P', 'E'};
    if (count < 10'000'000) return with_commas(count).size() < margin ? with_commas(count) : std::to_string(count);
    double value = static_cast<double>(count);
    std::size_t unit = 0;
    for (value /= 1000; value >= 999.5 && unit + 1 < units.size(); value /= 1000) ++unit;
    return fmt::format("{:.3g}{}", value, units[unit]);
}

std::string foreground(Colour colour) {
    return fmt::format("\x1b[38;2;{};{};{}m", colour.red, colour.green, colour.blue);
}

std::string background(Colour colour) {
    return fmt::format("\x1b[48;2;{};{};{}m", colour.red, colour.green, colour.blue);
}

constexpr std::string_view plain_again = "\x1b[0m";

/// A line with texts at places: where two meet, the later one is left out.
class Ticks {
public:
    explicit Ticks(std::size_t width) : line_(width, ' ') {}

    /// With its first character at `place`, or so far left that it fits.
    void put(std::size_t place, std::string_view text) {
        if (text.size() > line_.size()) return;
        place = std::min(place, line_.size() - text.size());
        const std::size_t from = place == 0 ? 0 : place - 1;
        const std::size_t to = std::min(place + text.size() + 1, line_.size());
        if (line_.find_first_not_of(' ', from) < to) return;
        line_.replace(place, text.size(), text);
    }

    [[nodiscard]] std::string text() const { return line_.substr(0, line_.find_last_not_of(' ') + 1); }

private:
    std::string line_;
};

std::string histogram_text(const Histogram& histogram, const Screen& screen) {
    const std::size_t width = terminal_size(screen).bins;
    constexpr std::array<std::string_view, 9> bars{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr Colour bar_colour{70, 130, 180};
    const std::vector<std::uint64_t>& counts = histogram.counts();
    const std::size_t across = width / counts.size();  // characters of one bin
    const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
    const std::size_t lines = histogram_lines(screen);
    std::string text;
    for (std::size_t line = lines; line-- > 0;) {
        std::string row;
        for (const std::uint64_t count : counts) {
            const double height = static_cast<double>(count) / static_cast<double>(most) * static_cast<double>(lines);
            const double here = std::clamp(height - static_cast<double>(line), 0.0, 1.0);
            if (screen.is_coloured) {
                const auto eighths = static_cast<std::size_t>(std::lround(here * 8));
                const std::string_view bar =
                    bars[count != 0 && line == 0 ? std::max<std::size_t>(eighths, 1) : eighths];
                for (std::size_t i = 0; i < across; ++i) row += bar;
            } else {
                row.append(across, here >= 0.75 ? '#' : here >= 0.25 || (count != 0 && line == 0) ? '.' : ' ');
            }
        }
        row.erase(row.find_last_not_of(' ') + 1);
        if (screen.is_coloured) row = foreground(bar_colour) + row + std::string(plain_again);
        text += label(line + 1 == lines ? short_count(most) : line == 0 ? "0" : "") + row + '\n';
    }
    Ticks ticks(counts.size() * across);
    ticks.put(0, number_text(histogram.low()));
    ticks.put(counts.size() * across, number_text(histogram.high()));
    if (histogram.low() < 0 && histogram.high() > 0) {
        const double place = -histogram.low() / (histogram.high() - histogram.low());
        ticks.put(static_cast<std::size_t>(place * static_cast<double>(counts.size() * across)), "0");
    }
    text += std::string(margin, ' ') + ticks.text() + '\n';
    if (histogram.below() + histogram.above() != 0) {
        text += std::string(margin, ' ') +
                fmt::format("and {} below, {} above\n", with_commas(histogram.below()), with_commas(histogram.above()));
    }
    return text;
}

/// How a map is drawn larger than it is, so that few cells are seen well: what one cell takes.
struct Zoom {
    std::size_t down;    // in cells' lines: half lines of text in colour
    std::size_t across;  // in characters

    Zoom(const HeatMap& map, const Screen& screen) {
        const PortraitSize room = terminal_size(screen);
        constexpr std::size_t most = 4;
        down = std::clamp<std::size_t>(room.height / map.height(), 1, most);
        across = std::clamp<std::size_t>(room.width / map.width(), 1, most);
        // A character is twice as high as wide, and half of one square.
        if (map.height() > 1 && map.width() > 1) {
            const std::size_t aspect = screen.is_coloured ? 1 : 2;
            down = std::max<std::size_t>(std::min(down, across / aspect), 1);
            across = std::min(across, down * aspect);
        }
        if (screen.is_coloured && down * map.height() == 1) down = 2;
    }
};

/// From the most negative over 0 to the most positive, for want of colours.
constexpr std::string_view levels = "WVv-.+xX#";
constexpr char nan_level = '?';
constexpr char infinity_level = '!';

char level_of(double number, double limit) {
    if (std::isnan(number)) return nan_level;
    if (std::isinf(number)) return infinity_level;
    constexpr double middle = (levels.size() - 1) / 2;
    if (limit <= 0) return levels[static_cast<std::size_t>(middle)];
    return levels[static_cast<std::size_t>(std::lround(middle + std::clamp(number / limit, -1.0, 1.0) * middle))];
}

/// The text of a map's line `y` of `zoom`ed half lines (in colour) or lines.
std::string map_line(const HeatMap& map, const Zoom& zoom, double limit, std::size_t line, bool is_coloured) {
    std::string text;
    for (std::size_t x = 0; x < map.width(); ++x) {
        if (!is_coloured) {
            text.append(zoom.across, level_of(map.cell(line / zoom.down, x), limit));
            continue;
        }
        text += foreground(colour_of(map.cell(2 * line / zoom.down, x), limit));
        const std::size_t lower = (2 * line + 1) / zoom.down;
        if (lower < map.height()) {
            text += background(colour_of(map.cell(lower, x), limit));
        } else {
            text += "\x1b[49m";
        }
        for (std::size_t i = 0; i < zoom.across; ++i) text += "▀";
    }
    return is_coloured ? text + std::string(plain_again) : text;
}

std::string scale_text(const HeatMap& map, double limit, const Screen& screen) {
    const MapContents contents = contents_of(map, limit);
    const int steps = screen.columns < 60 ? 3 : screen.columns < 100 ? 6 : 12;  // to either side of 0
    std::string scale;
    if (screen.is_coloured) {
        for (int i = -steps; i <= steps; ++i) scale += background(colour_of(i, steps)) + " ";
        scale += plain_again;
    } else {
        scale = levels;
    }
    const std::string low = limit == 0 ? "0" : number_text(-limit);
    const std::string high = number_text(limit);
    std::string text = fmt::format("{}{} {} {}", std::string(margin, ' '), low, scale, high);
    std::size_t used = margin + low.size() + high.size() + 2 +
                       (screen.is_coloured ? static_cast<std::size_t>(2 * steps + 1) : levels.size());
    // As much of a legend as fits.
    const auto add = [&](std::string_view sign, std::size_t sign_size, const std::string& what) {
        used += 2 + sign_size + what.size();
        if (used < screen.columns) text += fmt::format("  {}{}", sign, what);
    };
    const auto swatch = [&](Colour colour, char level) {
        return screen.is_coloured ? background(colour) + " " + std::string(plain_again) : std::string(1, level);
    };
    if (contents.nans != 0) add(swatch(nan_colour, nan_level), 1, " NaN");
    if (contents.infinities != 0) add(swatch(infinity_colour, infinity_level), 1, " infinity");
    if (contents.beyond != 0) add("", 0, with_commas(contents.beyond) + " beyond");
    return text + '\n';
}

std::string map_text(const HeatMap& map, const Matrix& matrix, CellValue value, const Screen& screen) {
    const double limit = map.limit();
    const Zoom zoom(map, screen);
    const std::string caption = map_caption(map, matrix, value).substr(0, screen.columns - margin);
    std::string text = std::string(margin, ' ') + caption + '\n';
    const std::size_t half_lines = map.height() * zoom.down;
    const std::size_t lines = screen.is_coloured ? (half_lines + 1) / 2 : half_lines;
    for (std::size_t line = 0; line < lines; ++line) {
        const bool is_last = line + 1 == lines;
        text += label(line == 0 ? "0"
                      : is_last ? std::to_string(map.rows() - 1)
                                : "") +
                map_line(map, zoom, limit, line, screen.is_coloured) + '\n';
    }
    Ticks ticks(map.width() * zoom.across);
    ticks.put(0, "0");
    if (map.columns() > 1) ticks.put(map.width() * zoom.across, std::to_string(map.columns() - 1));
    return text + std::string(margin, ' ') + ticks.text() + '\n' + scale_text(map, limit, screen);
}

}  // namespace

PortraitSize terminal_size(const Screen& screen) {
    const std::size_t width = screen.columns - margin - 1;
    return {map_lines(screen) * (screen.is_coloured ? 2 : 1), width, width};
}

std::string terminal_picture(const Portrait& portrait, const Matrix& matrix, CellValue value, const Screen& screen) {
    std::string text;
    if (portrait.histogram) text += histogram_text(*portrait.histogram, screen) + '\n';
    if (portrait.heat_map) text += map_text(*portrait.heat_map, matrix, value, screen);
    return text;
}

}  // namespace tensorfs
