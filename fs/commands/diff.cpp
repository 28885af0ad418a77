#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/escape.hpp"
#include "core/base/json_text.hpp"
#include "core/tensors/widen.hpp"
#include "core/views/listings.hpp"
#include "fs/commands/load_source.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/comparing/compare.hpp"
#include "fs/terminal/quantity_text.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

bool is_float(Dtype dtype) {
    return can_widen(dtype) || dtype == Dtype::F32 || dtype == Dtype::F64 || dtype == Dtype::C64;
}

/// Whether it is a line of the table: what else is told of it is its types alone.
bool is_measured(const Pair& pair) {
    return pair.is_in_both() && !pair.has_same_dtype() && pair.is_compared() && pair.difference.differing != 0;
}

/// How elements of one type differ.
std::string elements_line(const Pair& pair) {
    const Difference& difference = pair.difference;
    std::string text = fmt::format("{}: {} of {} differ", printable(pair.a->full_name()),
                                   with_commas(difference.differing), counted(pair.a->elements(), "element"));
    if (!is_float(pair.a->dtype())) return text + "\n";
    text += fmt::format(", by {:.6g} at most and {:.6g} on average", difference.largest, difference.mean());
    if (difference.nans != 0) text += fmt::format(", {} of them NaN", with_commas(difference.nans));
    return text + "\n";
}

std::string lines(const Pair& pair, const Model& a, const Model& b) {
    if (!pair.is_in_both()) {
        return fmt::format("only in {}: {}\n", printable(pair.a != nullptr ? a.path() : b.path()),
                           printable((pair.a != nullptr ? pair.a : pair.b)->full_name()));
    }
    std::string text;
    const std::string name = printable(pair.a->full_name());
    if (!pair.has_same_dtype()) {
        text += fmt::format("{}: dtype {} and {}{}\n", name, to_string(pair.a->dtype()), to_string(pair.b->dtype()),
                            are_comparable(pair.a->dtype(), pair.b->dtype()) ? "" : ", which cannot be compared");
    }
    if (!pair.has_same_shape()) {
        text += fmt::format("{}: shape {} and {}\n", name, to_string(pair.a->shape()), to_string(pair.b->shape()));
    }
    if (pair.has_same_dtype() && pair.difference.differing != 0) text += elements_line(pair);
    return text;
}

/// What another type costs, a tensor a line; empty if there is none.
std::string table(const std::vector<Pair>& pairs) {
    constexpr std::size_t widest = 80;  // but for names beyond reason
    constexpr std::size_t columns = 9;
    constexpr std::size_t left_aligned = 3;
    using Row = std::array<std::string, columns>;
    std::vector<Row> rows{{"tensor", "dtype", "other", "elements", "largest", "mean", "rms", "relative", "NaN"}};
    for (const Pair& pair : pairs) {
        if (!is_measured(pair)) continue;
        const Difference& difference = pair.difference;
        const auto number = [](double value) { return fmt::format("{:.4g}", value); };
        rows.push_back({printable(pair.a->full_name()), std::string(to_string(pair.a->dtype())),
                        std::string(to_string(pair.b->dtype())), with_commas(difference.elements),
                        number(difference.largest), number(difference.mean()), number(difference.rms()),
                        number(100 * difference.relative_rms()) + " %", with_commas(difference.nans)});
    }
    if (rows.size() == 1) return "";
    std::array<std::size_t, columns> widths{};
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], std::min(row[i].size(), widest));
    }
    std::string text;
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < columns; ++i) {
            text += i == 0             ? fmt::format("{:<{}}", row[i], widths[i])
                    : i < left_aligned ? fmt::format("  {:<{}}", row[i], widths[i])
                                       : fmt::format("  {:>{}}", row[i], widths[i]);
        }
        text += '\n';
    }
    return text;
}

void print_text(const std::vector<Pair>& pairs, const Model& a, const Model& b) {
    std::string text;
    for (const Pair& pair : pairs) {
        if (!is_measured(pair)) text += lines(pair, a, b);
    }
    const std::string measured = table(pairs);
    if (!text.empty() && !measured.empty()) text += '\n';
    print(text + measured);
}

nlohmann::ordered_json json_of(const Pair& pair) {
    nlohmann::ordered_json object{
        {"name", pair.a->full_name()},
        {"dtype", {to_string(pair.a->dtype()), to_string(pair.b->dtype())}},
        {"shape", {pair.a->shape(), pair.b->shape()}},
    };
    const Difference& difference = pair.difference;
    const auto set = [&](const char* key, auto value) {
        object[key] = pair.is_compared() ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
    };
    set("elements", difference.elements);
    set("differing", difference.differing);
    set("nan", difference.nans);
    set("largest", difference.largest);
    set("mean", difference.mean());
    set("rms", difference.rms());
    set("relative_rms", difference.relative_rms());
    return object;
}

void print_json(const std::vector<Pair>& pairs) {
    auto only_in_first = nlohmann::ordered_json::array();
    auto only_in_second = nlohmann::ordered_json::array();
    auto tensors = nlohmann::ordered_json::array();
    for (const Pair& pair : pairs) {
        if (pair.is_in_both()) {
            tensors.push_back(json_of(pair));
        } else {
            (pair.a != nullptr ? only_in_first : only_in_second)
                .push_back((pair.a != nullptr ? pair.a : pair.b)->full_name());
        }
    }
    const nlohmann::ordered_json all{
        {"only_in_first", std::move(only_in_first)},
        {"only_in_second", std::move(only_in_second)},
        {"tensors", std::move(tensors)},
    };
    print(json_text(all, 2) + "\n");
}

constexpr std::array arguments{
    source_argument,
    Argument{.value = {"OTHER", Completes::source}, .help = "the model to compare with"},
};

constexpr std::array flags{
    Flag{
        .name = "--json",
        .help = "a JSON object, with the root mean squares of all that differs in it",
        .manual = R"(.Fl -json
prints a JSON object of three arrays: the names
.Va only_in_first
and
.Va only_in_second ,
and of
.Va tensors
in both that differ, objects of
.Va name ,
.Va dtype
and
.Va shape
.Pq two each ,
.Va elements ,
.Va differing ,
.Va nan ,
.Va largest ,
.Va mean ,
.Va rms
and
.Va relative_rms ,
which is a fraction.
What cannot be compared, and a number that is not finite, is null.)",
    },
};

ExitCode run(const Typed& typed) {
    // As diff(1) has it: 1 means that they differ, 2 that something went wrong.
    try {
        Model a = load_source(typed);
        Model b = load_source(typed.value("OTHER"), typed);
        a.map();
        b.map();
        const bool is_json = typed.has("--json");
        const std::vector<Pair> pairs =
            compare(a, b, is_json ? Measure::distances_and_own_squares : Measure::distances);
        if (is_json) {
            print_json(pairs);
        } else {
            print_text(pairs, a, b);
        }
        return pairs.empty() ? ExitCode::ok : ExitCode::bad;
    } catch (const Error& e) {
        report(e);
    } catch (const std::exception& e) {
        complain(e.what());
    }
    return ExitCode::usage;
}

}  // namespace

constexpr Verb diff_verb{
    .name = "diff",
    .summary = "compare two models, tensor by tensor",
    .manual =
        R"(Compares two models: tensors that only one of them has, different dtypes and shapes, and how many elements
differ; of floats also by how much, at most and on average over all elements.
.Pp
Tensors of one shape and different dtypes are compared by their numbers: narrow floats widened, quantised ones
dequantised, and
.Li BOOL
as 0 and 1.
Those that differ are lines of a table, which so shows the price of a quantisation: the largest and the mean difference,
its root mean square, and that in percent of the root mean square of the first model's tensor.
NaN in only one of the two is counted apart.
Where no number differs, the dtypes are all that is told.
.Li C64
is compared with its like only.
.Pp
Metadata is not compared.
Options apply to both models.
Exits with 0 if nothing differs, 1 if something does, and 2 for any trouble.)",
    .arguments = arguments,
    .flags = flags,
    .takes = is_of_source,
    .run = run,
};

}  // namespace tensorfs
