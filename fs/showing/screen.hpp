#pragma once

#include <cstddef>
#include <string_view>

namespace tensorfs {

/// What standard output is shown on.
struct Screen {
    std::size_t columns = 80;
    std::size_t lines = 24;
    bool is_coloured = false;
};

/// `colour` is "auto" (or empty), "always" or "never". Automatic colour is for a terminal that has colours, unless
/// NO_COLOR is set and not empty. The size is the terminal's; COLUMNS and LINES come first; 80 × 24 where nothing says
/// it.
Screen screen_of(std::string_view colour);

}  // namespace tensorfs
