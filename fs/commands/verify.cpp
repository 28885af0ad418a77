#include <fmt/format.h>

#include <array>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/model/model.hpp"
#include "fs/commands/load_source.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

/// Prints the notes or problems of one source. Whether it is good.
bool verify(const std::string& source, const SourceOptions& options) {
    try {
        const Model model = Model::load(find_source(source, options));
        for (const std::string& note : model.notes())
            print(fmt::format("{}: note: {}\n", printable(source), printable(note)));
        print(printable(source) + ": OK\n");
        return true;
    } catch (const Error& e) {
        for (const Problem& problem : e.problems()) print(to_string(problem) + "\n");
        return false;
    }
}

constexpr std::array arguments{
    Argument{
        .value = {"SOURCE", Completes::source},
        .help = "models' folders or files, indexes or Hub ids",
        .is_repeated = true,
    },
};

ExitCode run(const Typed& typed) {
    const LoadOptions options = load_options(typed);
    bool all_good = true;
    for (const std::string& source : typed.values("SOURCE")) all_good = verify(source, options.source) && all_good;
    return all_good ? ExitCode::ok : ExitCode::bad;
}

}  // namespace

constexpr Verb verify_verb{
    .name = "verify",
    .summary = "check against the format's rules; a line for each problem",
    .manual = R"(Checks headers and index against the rules of the format, with the reference implementation's verdict.
Prints
.Ql PATH: OK ,
or
.Ql PATH: KIND: what is wrong and where
for each problem; see
.Sx DIAGNOSTICS .
Weights are not read.)",
    .arguments = arguments,
    .takes = [](const MountOption& option) { return option.is_of_source && option.name != "partial"; },
    .run = run,
};

}  // namespace tensorfs
