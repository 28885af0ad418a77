#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/base/escape.hpp"
#include "core/base/natural_order.hpp"
#include "core/model/model.hpp"
#include "core/views/listings.hpp"
#include "core/views/views.hpp"
#include "fs/commands/load_source.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

std::vector<std::uint32_t> in_natural_order(const Model& model) {
    std::vector<std::uint32_t> order = model.by_name();
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return natural_less(model.tensors()[a].full_name(), model.tensors()[b].full_name());
    });
    return order;
}

void print_table(const Model& model) {
    // A column as wide as what it holds, but for names beyond reason.
    constexpr std::size_t widest = 80;
    struct Line {
        std::string name, dtype, shape, nbytes;
    };
    std::vector<Line> lines;
    std::size_t name_width = 0;
    std::size_t shape_width = 0;
    std::size_t nbytes_width = 0;
    for (const std::uint32_t i : in_natural_order(model)) {
        const Tensor& tensor = model.tensors()[i];
        Line& line = lines.emplace_back(Line{printable(tensor.full_name()), std::string(to_string(tensor.dtype())),
                                             to_string(tensor.shape()), std::to_string(tensor.nbytes())});
        name_width = std::max(name_width, std::min(line.name.size(), widest));
        shape_width = std::max(shape_width, std::min(line.shape.size(), widest));
        nbytes_width = std::max(nbytes_width, line.nbytes.size());
    }
    std::string text;
    for (const Line& line : lines) {
        text += fmt::format("{:<{}}  {:<11}  {:<{}}  {:>{}}\n", line.name, name_width, line.dtype, line.shape,
                            shape_width, line.nbytes, nbytes_width);
    }
    print(text);
}

/// A name as it is, but for what would end its line or move a terminal's cursor.
void print_names(const Model& model) {
    std::string text;
    for (const std::uint32_t i : in_natural_order(model)) text += printable(model.tensors()[i].full_name()) + '\n';
    print(text);
}

void print_json(const Model& model) {
    std::string text = "[";
    std::string_view separator = "\n";
    for (const std::uint32_t i : in_natural_order(model)) {
        text += separator;
        text += tensor_json(model, model.tensors()[i], "");
        separator = ",\n";
    }
    print(text + "\n]\n");
}

constexpr std::array flags{
    Flag{
        .name = "--json",
        .help = "a JSON array of objects, with the shard and the offset in it besides",
        .manual = R"(With
.Fl -json ,
an array of objects that also have shard and offset.)",
    },
    Flag{
        .name = "--names",
        .help = "names alone, one a line, for scripts: as cat takes them",
        .manual = R"(With
.Fl -names ,
a name a line and nothing else, for scripts: each line is what
.Cm cat
takes for that tensor, even if its name holds a newline, which is printed as
.Ql \en .
Read the lines with
.Ql IFS=\ read\ -r .)",
        .excludes = "--json",
    },
};

ExitCode run(const Typed& typed) {
    const Model model = load_source(typed);
    if (typed.has("--json")) {
        print_json(model);
    } else if (typed.has("--names")) {
        print_names(model);
    } else {
        print_table(model);
    }
    return ExitCode::ok;
}

}  // namespace

constexpr Verb ls_verb{
    .name = "ls",
    .summary = "list the tensors: name, dtype, shape, bytes",
    .manual = "Prints a line for each tensor: name, dtype, shape, bytes.",
    .arguments = source_alone,
    .flags = flags,
    .takes = is_of_source,
    .run = run,
};

}  // namespace tensorfs
