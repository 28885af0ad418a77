#pragma once

#include <string>

#include "fs/showing/portrait.hpp"
#include "fs/showing/screen.hpp"

namespace tensorfs {

/// What of a portrait fits the screen.
PortraitSize terminal_size(const Screen& screen);

/// A portrait's histogram and heat map as lines for the screen: bars and half blocks in truecolor, or characters of
/// ASCII alone. No line is longer than the screen is wide. `value` is what the cells are, and `place` the matrix's, if
/// it is a part of the tensor.
std::string terminal_picture(const Portrait& portrait, const Matrix& matrix, CellValue value, const Screen& screen);

}  // namespace tensorfs
