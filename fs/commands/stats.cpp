#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/escape.hpp"
#include "core/base/json_text.hpp"
#include "core/base/natural_order.hpp"
#include "core/views/listings.hpp"
#include "fs/commands/load_source.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/options/option_list.hpp"
#include "fs/printing/patterns.hpp"
#include "fs/printing/table_text.hpp"
#include "fs/showing/folder_statistics.hpp"
#include "fs/showing/measure.hpp"
#include "fs/showing/statistics_text.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/quantity_text.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

struct Line {
    const Tensor* tensor;
    Statistics statistics;
};

/// What a line is sorted by: what is lowest stands first. What there is none of comes last.
double sort_key(const Line& line, std::string_view by) {
    const Statistics& statistics = line.statistics;
    const auto largest_first = [](double value) { return std::isnan(value) ? HUGE_VAL : -value; };
    if (by == "min") return statistics.minimum ? to_double(*statistics.minimum) : HUGE_VAL;
    if (by == "max") return statistics.maximum ? -to_double(*statistics.maximum) : HUGE_VAL;
    if (by == "mean") return largest_first(statistics.mean());
    if (by == "std") return largest_first(statistics.deviation());
    if (by == "zeros") return -static_cast<double>(statistics.zeros);
    if (by == "nan") return -static_cast<double>(statistics.nans);
    if (by == "inf") return -static_cast<double>(statistics.infinities);
    if (by == "size") return -static_cast<double>(line.tensor->nbytes());
    return 0;  // "name"
}

void sort(std::vector<Line>& lines, const std::string& by) {
    std::sort(lines.begin(), lines.end(), [&](const Line& a, const Line& b) {
        const double x = sort_key(a, by);
        const double y = sort_key(b, by);
        return x != y ? x < y : natural_less(a.tensor->full_name(), b.tensor->full_name());
    });
}

void print_table(const std::vector<Line>& lines) {
    TableRows rows{{"tensor", "dtype", "shape"}};
    const auto add_cells = [&](std::vector<std::string> cells) {
        rows.back().insert(rows.back().end(), cells.begin(), cells.end());
    };
    add_cells(statistics_heads());
    for (const Line& line : lines) {
        rows.push_back({printable(line.tensor->full_name()), std::string(to_string(line.tensor->dtype())),
                        to_string(line.tensor->shape())});
        add_cells(statistics_cells(line.statistics));
    }
    print(table_text(rows, 3));
}

void print_folders(const std::vector<FolderStatistics>& folders) {
    TableRows rows{{"folder", "tensors", "elements", "bytes"}};
    const auto add_cells = [&](std::vector<std::string> cells) {
        rows.back().insert(rows.back().end(), cells.begin(), cells.end());
    };
    add_cells(statistics_heads());
    for (const FolderStatistics& folder : folders) {
        rows.push_back({printable(folder.path) + "/", with_commas(folder.tensors),
                        with_commas(folder.statistics.elements), with_commas(folder.nbytes)});
        add_cells(statistics_cells(folder.statistics));
    }
    print(table_text(rows, 1));
}

using Json = nlohmann::ordered_json;

Json tensors_json(const std::vector<Line>& lines, bool is_check) {
    Json all = Json::array();
    for (const Line& line : lines) {
        Json object{
            {"name", line.tensor->full_name()}, {"dtype", to_string(line.tensor->dtype())},
            {"shape", line.tensor->shape()},    {"elements", line.statistics.elements},
            {"nbytes", line.tensor->nbytes()},
        };
        add_statistics(object, line.statistics);
        if (is_check) {
            const std::string trouble = trouble_text(line.statistics);
            object["trouble"] = trouble.empty() ? Json(nullptr) : Json(trouble);
        }
        all.push_back(std::move(object));
    }
    return all;
}

Json folders_json(const std::vector<FolderStatistics>& folders) {
    Json all = Json::array();
    for (const FolderStatistics& folder : folders) {
        Json object{
            {"path", folder.path},
            {"tensors", folder.tensors},
            {"elements", folder.statistics.elements},
            {"nbytes", folder.nbytes},
        };
        add_statistics(object, folder.statistics);
        all.push_back(std::move(object));
    }
    return all;
}

/// A line for each tensor that something is wrong with, or that all is well. Whether it is.
bool print_check(const std::vector<Line>& lines, const std::string& source) {
    std::string text;
    for (const Line& line : lines) {
        const std::string trouble = trouble_text(line.statistics);
        if (!trouble.empty()) text += fmt::format("{}: {}\n", printable(line.tensor->full_name()), trouble);
    }
    print(text.empty() ? printable(source) + ": OK\n" : text);
    return text.empty();
}

std::uint64_t depth_of(const std::string& text) {
    std::uint64_t depth = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), depth);
    if (error != std::errc{} || end != text.data() + text.size())
        throw Failure(ExitCode::usage, fmt::format("--folders takes a number of names, not \"{}\"", printable(text)));
    return depth;
}

constexpr std::array arguments{
    source_argument,
    Argument{
        .value = {"PATTERN", Completes::pattern},
        .help = "shell patterns for the tensors' names; all tensors if there is none",
        .manual = R"(A PATTERN is a shell pattern that selects tensors by name, as for
.Cm warm .)",
        .is_required = false,
        .is_repeated = true,
    },
};

constexpr std::array flags{
    Flag{
        .name = "--check",
        .help = "print only tensors with NaN or an infinity, or all one value; exit with 1 if there is one",
        .manual = R"(.Fl -check
prints a line for each tensor that holds a NaN or an infinity, or is two elements or more of one value, with the reason,
and exits with 1 if there is one; else it prints
.Ql SOURCE: OK .
Run it on a download or on a checkpoint.)",
    },
    Flag{
        .name = "--folders",
        .value = {"DEPTH"},
        .help = "totals of folders, up to so many names deep, instead of tensors",
        .manual = R"(.Fl -folders
prints totals instead, of the folders that a mount has, up to DEPTH names deep; 0 is the whole model.)",
        .excludes = "--check",
    },
    Flag{
        .name = "--json",
        .help = "a JSON object",
        .manual = R"(.Fl -json
prints a JSON object: of
.Va tensors ,
an array of objects of
.Va name ,
.Va dtype ,
.Va shape ,
.Va elements ,
.Va nbytes ,
.Va min ,
.Va max ,
.Va mean ,
.Va std ,
.Va zeros ,
.Va nan ,
.Va inf
and
.Va negative_inf ,
which is how many of
.Va inf
are negative; with
.Fl -check
also
.Va trouble ,
a text or null.
With
.Fl -folders
it is of
.Va folders ,
with
.Va path
and
.Va tensors
instead of name, dtype and shape.
A number that is not finite, or that there is none of, is null.)",
    },
    Flag{
        .name = "--sort",
        .value = {.name = "KEY", .choices = "name|min|max|mean|std|zeros|nan|inf|size"},
        .help = "by name (the default), min (lowest first), or max, mean, std, zeros, nan, inf or size (largest first)",
        .manual = R"(.Fl -sort
orders the tensors: by
.Cm name ,
the default; by
.Cm min ,
the lowest first; or by
.Cm max , mean , std , zeros , nan , inf
or
.Cm size
in bytes, the largest first.)",
    },
};

ExitCode run(const Typed& typed) {
    const bool is_check = typed.has("--check");
    const std::uint64_t depth = typed.has("--folders") ? depth_of(typed.value("--folders")) : 0;
    MountOptions options;  // as for a mount, since folders are the mount's
    for (const std::string& list : typed.option_lists()) apply_option_list(options, list);
    Model model = Model::load(find_source(typed.source(), options.load.source), options.load.on_problem);
    model.map();
    const std::vector<std::uint32_t> selected = select_tensors(model, typed.values("PATTERN"));
    const std::vector<Statistics> measured = measure(model, selected);

    if (typed.has("--folders")) {
        const auto folders = folder_statistics(model, options.separators, selected, measured, depth);
        if (typed.has("--json")) {
            print(json_text(Json{{"folders", folders_json(folders)}}, 2) + "\n");
        } else {
            print_folders(folders);
        }
        return ExitCode::ok;
    }
    std::vector<Line> lines;
    for (std::size_t i = 0; i < selected.size(); ++i) lines.push_back({&model.tensors()[selected[i]], measured[i]});
    sort(lines, typed.value("--sort"));
    if (typed.has("--json")) {
        print(json_text(Json{{"tensors", tensors_json(lines, is_check)}}, 2) + "\n");
    } else if (is_check) {
        return print_check(lines, typed.source()) ? ExitCode::ok : ExitCode::bad;
    } else {
        print_table(lines);
    }
    const bool is_bad = std::any_of(lines.begin(), lines.end(),
                                    [](const Line& line) { return !trouble_text(line.statistics).empty(); });
    return is_check && is_bad ? ExitCode::bad : ExitCode::ok;
}

}  // namespace

constexpr Verb stats_verb{
    .name = "stats",
    .summary = "the tensors' numbers: range, mean, deviation, zeros, NaN, infinities",
    .manual =
        R"(Prints a line for each tensor: name, dtype, shape, and of its numbers the minimum, the maximum, the mean, the
standard deviation (of the population, as
.Ql numpy.std
has it), and how many are 0, NaN or infinite.
Numbers are narrow floats widened, quantised ones computed,
.Li BOOL
as 0 and 1, and of
.Li C64
the magnitudes.
Minimum, maximum, mean and deviation are those of the finite numbers, so that a NaN is counted and hides nothing;
.Ql -
stands where there is no such number.
All bytes are read, in parallel, in memory that does not grow with the model.)",
    .arguments = arguments,
    .flags = flags,
    .takes = [](const MountOption& option) { return option.is_of_source || option.name == "separators"; },
    .about_options =
        "A mount's other options are taken, too, so that its list can be given as it is; they change nothing.",
    .run = run,
};

}  // namespace tensorfs
