// What `tensorfs show` is made of: the matrix, the colours, the font, the lines of text.

#include <cmath>
#include <set>

#include "core/base/escape.hpp"
#include "fs/showing/colours.hpp"
#include "fs/showing/font.hpp"
#include "fs/showing/portrait.hpp"
#include "fs/showing/statistics_text.hpp"
#include "fs/showing/terminal_picture.hpp"
#include "fs/terminal/failure.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/program.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

/// Without what a terminal obeys.
std::string without_colours(std::string text) {
    for (std::size_t at = 0; (at = text.find('\x1b', at)) != std::string::npos;)
        text.erase(at, text.find('m', at) - at + 1);
    return text;
}

std::size_t characters(std::string_view text) {
    std::size_t count = 0;
    for (; !text.empty(); ++count) text.remove_prefix(utf8_length(text));
    return count;
}

Portrait portrait_of(std::uint64_t rows, std::uint64_t columns, const Screen& screen) {
    const PortraitSize size = terminal_size(screen);
    Portrait portrait;
    portrait.heat_map.emplace(rows, columns, size.height, size.width, CellValue::average);
    portrait.histogram.emplace(-1, 1, size.bins);
    std::vector<double> values(rows * columns);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
    portrait.heat_map->add(0, values);
    portrait.histogram->add(values);
    return portrait;
}

int luminance(Colour colour) { return 3 * colour.red + 6 * colour.green + colour.blue; }

}  // namespace

TEST_CASE("show: the matrix of a tensor") {
    const std::vector<std::uint64_t> shape{4, 5, 6, 7};
    const Matrix first = matrix_of(shape, "");
    CHECK(first.rows == 6);
    CHECK(first.columns == 7);
    CHECK(first.first == 0);
    CHECK(first.place == "[0,0,:,:]");
    CHECK(first.is_default);
    const Matrix other = matrix_of(shape, "2,-1");
    CHECK(other.first == (2 * 5 + 4) * 42);
    CHECK(other.place == "[2,4,:,:]");
    CHECK_FALSE(other.is_default);
    for (const char* const wrong : {"1", "1,2,3", "4,0", "0:2,1", "x", "1,2,0:3", ",", "0,-6"})
        CHECK_THROWS_AS(matrix_of(shape, wrong), Failure);

    CHECK(matrix_of({}, "").elements() == 1);
    const std::vector<std::uint64_t> vector{9};
    CHECK(matrix_of(vector, "").rows == 1);
    CHECK(matrix_of(vector, "").place.empty());
    CHECK_THROWS_AS(matrix_of(vector, "0"), Failure);
    CHECK(matrix_of(std::vector<std::uint64_t>{3, 0, 5}, "").elements() == 0);
}

TEST_CASE("show: colours grow darker from 0 to both ends, and what is odd has its own") {
    for (const double sign : {-1.0, 1.0}) {
        for (int i = 0; i < 100; ++i)
            CHECK(luminance(colour_of(sign * i, 100)) > luminance(colour_of(sign * (i + 1), 100)));
        CHECK(colour_of(sign * 1000, 100) == colour_of(sign * 100, 100));
        CHECK(colour_of(sign * INFINITY, 100) == infinity_colour);
    }
    CHECK(colour_of(-50, 100).blue > colour_of(-50, 100).red);
    CHECK(colour_of(50, 100).red > colour_of(50, 100).blue);
    CHECK(colour_of(NAN, 100) == nan_colour);
    CHECK(colour_of(0, 0) == colour_of(0, 100));
    CHECK(colour_of(1e308, 1e-308) == colour_of(1, 1));
}

TEST_CASE("show: the font draws every printable character in its own way") {
    std::set<std::string> drawings;
    for (int code = 0x20; code < 0x7F; ++code) {
        std::string drawing;
        for (std::size_t y = 0; y < glyph_height; ++y) {
            for (std::size_t x = 0; x < glyph_width; ++x)
                drawing += glyph_pixel(static_cast<char>(code), x, y) ? '#' : ' ';
        }
        drawings.insert(drawing);
    }
    CHECK(drawings.size() == 0x7F - 0x20);
    CHECK(glyph_pixel('\x01', 1, 0) == glyph_pixel('?', 1, 0));
}

TEST_CASE("show: no line is wider than the screen, and there are no more lines than it has") {
    for (const bool is_coloured : {false, true}) {
        for (const auto& [columns, lines] : {std::pair{80, 24}, {200, 50}, {48, 16}, {500, 200}}) {
            const Screen screen{static_cast<std::size_t>(columns), static_cast<std::size_t>(lines), is_coloured};
            for (const auto& [rows, width] : {std::pair{1, 1}, {3, 3}, {1, 5000}, {5000, 1}, {300, 400}, {2, 90}}) {
                const Portrait portrait =
                    portrait_of(static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(width), screen);
                Matrix matrix;
                matrix.place = "[0,0,:,:]";
                const std::string text =
                    without_colours(terminal_picture(portrait, matrix, CellValue::average, screen));
                const std::vector<std::string> all = lines_of(text);
                CHECK(all.size() + 5 <= screen.lines);
                std::size_t longest = 0;
                for (const std::string& line : all) longest = std::max(longest, characters(line));
                CHECK(longest <= screen.columns);
            }
        }
    }
}

TEST_CASE("show: without colour, all is plain ASCII") {
    const Screen screen{80, 24, false};
    for (const char c : terminal_picture(portrait_of(30, 40, screen), {}, CellValue::average, screen))
        CHECK((c == '\n' || (c >= 0x20 && c < 0x7F)));
}

TEST_CASE("stats: what is wrong, in words") {
    Statistics statistics;
    statistics.elements = 1000;
    statistics.minimum = 1.0;
    statistics.maximum = 2.0;
    CHECK(trouble_text(statistics).empty());
    statistics.nans = 12;
    CHECK(trouble_text(statistics) == "12 NaN of 1,000");
    statistics.infinities = 1;
    CHECK(trouble_text(statistics) == "12 NaN, 1 infinity of 1,000");
    statistics = {};
    statistics.elements = 2;
    statistics.minimum = statistics.maximum = std::uint64_t{7};
    CHECK(trouble_text(statistics) == "all 2 elements are 7");
}
