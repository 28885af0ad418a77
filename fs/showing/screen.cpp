#include "fs/showing/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

namespace tensorfs {
namespace {

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// A size in characters, of which no picture needs more; `otherwise` where the text is no number.
std::size_t size_from(const std::string& text, std::size_t otherwise) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    return error == std::errc{} && end == text.data() + text.size() && size > 0 ? size : otherwise;
}

bool has_colours() {
    const std::string terminal = environment("TERM");
    return ::isatty(STDOUT_FILENO) == 1 && environment("NO_COLOR").empty() && !terminal.empty() && terminal != "dumb";
}

}  // namespace

Screen screen_of(std::string_view colour) {
    constexpr std::size_t most = 500;
    constexpr std::size_t least_columns = 48;
    constexpr std::size_t least_lines = 16;
    Screen screen;
    winsize window{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0) {
        screen.columns = window.ws_col;
        screen.lines = window.ws_row;
    }
    screen.columns = std::clamp(size_from(environment("COLUMNS"), screen.columns), least_columns, most);
    screen.lines = std::clamp(size_from(environment("LINES"), screen.lines), least_lines, most);
    screen.is_coloured = colour == "always" || (colour != "never" && has_colours());
    return screen;
}

}  // namespace tensorfs
