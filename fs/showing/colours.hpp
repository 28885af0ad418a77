#pragma once

#include <cstdint>

namespace tensorfs {

struct Colour {
    std::uint8_t red;
    std::uint8_t green;
    std::uint8_t blue;
    bool operator==(const Colour&) const = default;
};

// Like no colour of the scale.
inline constexpr Colour nan_colour{60, 60, 60};
inline constexpr Colour infinity_colour{255, 190, 0};

/// A number's colour on a scale from -limit, dark blue, over 0, white, to limit, dark red; what is beyond is as the
/// ends are. With a limit of 0, 0 is white. NaN and infinities have colours of their own.
Colour colour_of(double number, double limit);

}  // namespace tensorfs
