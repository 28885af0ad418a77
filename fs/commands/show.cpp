#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "core/base/escape.hpp"
#include "core/views/listings.hpp"
#include "fs/commands/load_source.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/showing/map_text.hpp"
#include "fs/showing/png_file.hpp"
#include "fs/showing/png_picture.hpp"
#include "fs/showing/portrait.hpp"
#include "fs/showing/screen.hpp"
#include "fs/showing/statistics_text.hpp"
#include "fs/showing/terminal_picture.hpp"
#include "fs/terminal/quantity_text.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

/// Name, dtype, shape, size and place.
std::string header(const Model& model, const Tensor& tensor) {
    return fmt::format("{}\n{} {}, {}, {}, in {} at {}\n", printable(tensor.full_name()), to_string(tensor.dtype()),
                       to_string(tensor.shape()), counted(tensor.elements(), "element"), human_bytes(tensor.nbytes()),
                       printable(model.shard_name(tensor.shard())), with_commas(tensor.offset()));
}

/// The numbers of stats, with their heads, in lines that fit the screen.
std::string numbers_text(const Statistics& statistics, std::size_t columns) {
    const std::vector<std::string> heads = statistics_heads();
    const std::vector<std::string> cells = statistics_cells(statistics);
    std::string text;
    std::string line;
    for (std::size_t i = 0; i < heads.size(); ++i) {
        const std::string word = heads[i] + ' ' + cells[i];
        if (!line.empty() && line.size() + 3 + word.size() >= columns) {
            text += line + '\n';
            line.clear();
        }
        line += (line.empty() ? "" : "   ") + word;
    }
    return text + line + '\n';
}

/// What stands above a picture.
std::vector<std::string> title(const Model& model, const Tensor& tensor, const Statistics& statistics) {
    constexpr std::size_t width = 50;
    std::vector<std::string> lines{printable(tensor.full_name()),
                                   fmt::format("{} {} in {}", to_string(tensor.dtype()), to_string(tensor.shape()),
                                               printable(model.shard_name(tensor.shard())))};
    const std::string numbers = numbers_text(statistics, width);
    for (std::size_t begin = 0; begin < numbers.size();) {
        const std::size_t end = numbers.find('\n', begin);
        lines.push_back(numbers.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

constexpr std::array arguments{source_argument, name_argument};

constexpr std::array flags{
    Flag{
        .name = "--png",
        .value = {"FILE", Completes::file},
        .help = "write the heat map to a PNG file, up to 1,024 x 1,024 cells, with axes and scale",
        .manual = R"(.Fl -png
writes the heat map to a PNG file instead, of up to 1,024 rows and columns, with axes and the colours' scale.
A file of that name is replaced once the new one is whole.)",
    },
    Flag{
        .name = "--slice",
        .value = {"INDICES"},
        .help = "of more than two dimensions, where in all but the last two, such as 0,3; the first if not given",
        .manual = R"(The heat map is of the last two dimensions.
.Fl -slice
gives an index for each dimension before these, such as
.Ql 0,3 ;
without, the first ones are taken.)",
    },
    Flag{
        .name = "--largest",
        .help = "where elements share a cell, show the one of the largest magnitude, not the average",
        .manual =
            R"(Where there are more rows or columns than fit, elements share a cell, which shows their average or, with
.Fl -largest ,
the one of the largest magnitude.)",
    },
    Flag{
        .name = "--color",
        .value = {.name = "WHEN", .choices = "auto|always|never"},
        .help = "in colours: auto (the default), always or never",
        .manual = R"(Colours are shown on a terminal, unless
.Ev NO_COLOR
is set;
.Fl -color
says
.Cm always
or
.Cm never .
Without, the picture is of plain characters.)",
    },
};

ExitCode run(const Typed& typed) {
    const Screen screen = screen_of(typed.value("--color"));
    Model model = load_source(typed);
    model.map();
    const auto index = static_cast<std::uint32_t>(named_tensor(model, typed));
    const Tensor& tensor = model.tensors()[index];
    const Matrix matrix = matrix_of(tensor.shape(), typed.value("--slice"));
    const CellValue value = typed.has("--largest") ? CellValue::largest : CellValue::average;
    const bool is_picture = typed.has("--png");
    const Portrait portrait = portray(model, index, matrix, value, is_picture ? png_size : terminal_size(screen));
    print(header(model, tensor) + numbers_text(portrait.statistics, screen.columns));
    if (is_picture) {
        if (portrait.heat_map) print(map_caption(*portrait.heat_map, matrix, value) + '\n');
        write_png(png_picture(portrait, matrix, value, title(model, tensor, portrait.statistics)),
                  typed.value("--png"));
    } else if (!portrait.heat_map) {
        print("\nThere are no elements to show.\n");
    } else {
        print('\n' + terminal_picture(portrait, matrix, value, screen));
    }
    return ExitCode::ok;
}

}  // namespace

constexpr Verb show_verb{
    .name = "show",
    .summary = "a tensor's histogram and heat map in the terminal, or a picture of it",
    .manual = R"(Shows a tensor as a person wants to see it: where it lies, the numbers of
.Cm stats ,
a histogram of all of its numbers, and a heat map of its rows and columns, in as much room as the terminal has.
The histogram leaves out numbers that lie far from all others, and says how many these are.
The heat map's colours go from blue, which is negative, over white, which is 0, to red; its scale, which a few outliers
do not change, stands below it.
NaN and infinities have colours of their own.)",
    .arguments = arguments,
    .flags = flags,
    .takes = is_of_source,
    .run = run,
};

}  // namespace tensorfs
