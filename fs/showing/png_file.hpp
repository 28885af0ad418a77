#pragma once

#include <string>

#include "fs/showing/canvas.hpp"

namespace tensorfs {

/// Writes a picture as a PNG file (8 bits a channel, RGB), beside its name first and then renamed, so that a file of
/// that name is whole. Replaces what is there. Throws Failure (unwritable) and leaves nothing behind where it cannot.
void write_png(const Canvas& canvas, const std::string& path);

}  // namespace tensorfs
