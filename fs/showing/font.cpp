#include "fs/showing/font.hpp"

#include <array>
#include <string_view>

namespace tensorfs {
namespace {

/// Some characters, and how they look: a column of blanks stands between two of them.
struct Drawing {
    std::string_view characters;
    std::array<std::string_view, glyph_height> lines;
};

// clang-format off
constexpr std::array drawings{
    Drawing{"0123456789+-",
            {" ###    #    ###   ###     #  #####  ###  #####  ###   ###",
             "#   #  ##   #   # #   #   ##  #     #   #     # #   # #   #   #",
             "#  ##   #       #     #  # #  ####  #        #  #   # #   #   #",
             "# # #   #     ##    ##  #  #      # ####    #    ###   #### ##### #####",
             "##  #   #    #        # #####     # #   #   #   #   #     #   #",
             "#   #   #   #     #   #    #  #   # #   #   #   #   # #   #   #",
             " ###   ###  #####  ###     #   ###   ###    #    ###   ###",
             "",
             ""}},
    Drawing{"ABCDEFGHIJKLM",
            {" ###  ####   ###  ####  ##### #####  ###  #   #  ###      # #   # #     #   #",
             "#   # #   # #   # #   # #     #     #   # #   #   #       # #  #  #     ## ##",
             "#   # #   # #     #   # #     #     #     #   #   #       # # #   #     # # #",
             "##### ####  #     #   # ####  ####  # ### #####   #       # ##    #     # # #",
             "#   # #   # #     #   # #     #     #   # #   #   #       # # #   #     #   #",
             "#   # #   # #   # #   # #     #     #   # #   #   #   #   # #  #  #     #   #",
             "#   # ####   ###  ####  ##### #      ###  #   #  ###   ###  #   # ##### #   #",
             "",
             ""}},
    Drawing{"NOPQRSTUVWXYZ",
            {"#   #  ###  ####   ###  ####   #### ##### #   # #   # #   # #   # #   # #####",
             "##  # #   # #   # #   # #   # #       #   #   # #   # #   # #   # #   #     #",
             "# # # #   # #   # #   # #   # #       #   #   # #   # #   #  # #   # #     #",
             "#  ## #   # ####  #   # ####   ###    #   #   # #   # # # #   #     #     #",
             "#   # #   # #     # # # # #       #   #   #   #  # #  # # #  # #    #    #",
             "#   # #   # #     #  #  #  #      #   #   #   #  # #  ## ## #   #   #   #",
             "#   #  ###  #      ## # #   # ####    #    ###    #   #   # #   #   #   #####",
             "",
             ""}},
    Drawing{"abcdefghijklm",
            {"      #               #         ##        #       #      #  #      ##",
             "      #               #        #  #       #                 #       #",
             " ###  ####   ####  ####  ###   #     #### # ##   ##     ##  #  #    #   ## #",
             "    # #   # #     #   # #   # ####  #   # ##  #   #      #  # #     #   # # #",
             " #### #   # #     #   # #####  #    #   # #   #   #      #  ##      #   # # #",
             "#   # #   # #     #   # #      #    #   # #   #   #      #  # #     #   # # #",
             " #### ####   ####  ####  ###   #     #### #   #  ###     #  #  #   ###  #   #",
             "                                        #             #  #",
             "                                     ###               ##"}},
    Drawing{"nopqrstuvwxyz",
            {"                                     #",
             "                                     #",
             "# ##   ###  ####   #### # ##   ###  ####  #   # #   # #   # #   # #   # #####",
             "##  # #   # #   # #   # ##  # #      #    #   # #   # #   #  # #  #   #    #",
             "#   # #   # #   # #   # #      ###   #    #   # #   # # # #   #   #   #   #",
             "#   # #   # #   # #   # #         #  #  # #  ##  # #  # # #  # #   ####  #",
             "#   #  ###  ####   #### #     ####    ##   ## #   #    # #  #   #     # #####",
             "            #         #                                               #",
             "            #         #                                            ###"}},
    Drawing{" .,:;_/\\[]()=",
            {"                                                  ### ###      #   #",
             "                   ##                   # #       #     #     #     #",
             "                   ##                  #   #      #     #    #       #  #####",
             "                         ##           #     #     #     #    #       #",
             "                   ##    ##          #       #    #     #    #       #  #####",
             "       ##    ##    ##               #         #   #     #     #     #",
             "       ##    ##          ##                       ### ###      #   #",
             "              #           #   #####",
             "             #           #"}},
    Drawing{"?!*%#$&@~^|",
            {" ###    #         ##     # #    #    ##    ###          #     #",
             "#   #   #     #   ##  #  # #   #### #  #  #   #        # #    #",
             "    #   #   # # #    #  ##### # #   # #   # ###       #   #   #",
             "   #    #    ###    #    # #   ###   #    # # #  #            #",
             "  #     #   # # #  #    #####   # # # # # # ##  # # #         #",
             "              #   #  ##  # #  ####  #  #  #        #          #",
             "  #     #            ##  # #    #    ## #  ####               #",
             "",
             ""}},
};
// clang-format on

}  // namespace

bool glyph_pixel(char character, std::size_t x, std::size_t y) {
    for (const Drawing& drawing : drawings) {
        const std::size_t place = drawing.characters.find(character);
        if (place == std::string_view::npos) continue;
        const std::string_view line = drawing.lines[y];
        const std::size_t at = place * glyph_step + x;
        return at < line.size() && line[at] == '#';
    }
    return character != '?' && glyph_pixel('?', x, y);
}

}  // namespace tensorfs
