#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/escape.hpp"
#include "core/base/natural_order.hpp"
#include "core/model/model.hpp"
#include "core/views/listings.hpp"
#include "core/views/views.hpp"
#include "fs/commands/parse.hpp"
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

}  // namespace

ExitCode run_ls(const Arguments& arguments) {
    SourceArguments source;
    bool json = false;
    bool names = false;
    const auto app = make_app("ls");
    source.add_to(*app);
    CLI::Option* const as_json =
        app->add_flag("--json", json, "a JSON array of objects, with the shard and the offset in it besides");
    app->add_flag("--names", names, "names alone, one a line, for scripts: as cat takes them")->excludes(as_json);
    if (!parse(*app, arguments)) return ExitCode::ok;

    const Model model = source.load();
    if (json) {
        print_json(model);
    } else if (names) {
        print_names(model);
    } else {
        print_table(model);
    }
    return ExitCode::ok;
}

}  // namespace tensorfs
