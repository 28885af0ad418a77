#include "fs/showing/colours.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tensorfs {
namespace {

/// From 0 to the end, evenly spaced: lightness falls all the way, so that the strength is seen without the hue, too.
using Ramp = std::array<Colour, 5>;

constexpr Ramp reds{{{247, 247, 247}, {248, 190, 160}, {225, 110, 85}, {180, 30, 45}, {95, 0, 30}}};
constexpr Ramp blues{{{247, 247, 247}, {165, 205, 230}, {80, 150, 200}, {35, 95, 165}, {5, 40, 95}}};

std::uint8_t between(std::uint8_t from, std::uint8_t to, double part) {
    return static_cast<std::uint8_t>(std::lround(from + (to - from) * part));
}

}  // namespace

Colour colour_of(double number, double limit) {
    if (std::isnan(number)) return nan_colour;
    const Ramp& ramp = number < 0 ? blues : reds;
    if (std::isinf(number)) return infinity_colour;
    if (limit <= 0) return ramp.front();
    const double place = std::min(std::fabs(number) / limit, 1.0) * static_cast<double>(ramp.size() - 1);
    const std::size_t step = std::min(static_cast<std::size_t>(place), ramp.size() - 2);
    const double part = place - static_cast<double>(step);
    const Colour& from = ramp[step];
    const Colour& to = ramp[step + 1];
    return {between(from.red, to.red, part), between(from.green, to.green, part), between(from.blue, to.blue, part)};
}

}  // namespace tensorfs
