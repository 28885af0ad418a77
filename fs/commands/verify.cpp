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

/// Prints the notes or problems of one source. Whether it is good. With `no_code`, a checkpoint that would run
/// something is not.
bool verify(const std::string& source, const SourceOptions& options, bool no_code) {
    try {
        const Model model = Model::load(find_source(source, options));
        for (const std::string& note : model.notes())
            print(fmt::format("{}: note: {}\n", printable(source), printable(note)));
        for (const Model::Call& call : model.calls()) {
            const std::string text = "unpickling it would call " + call.name;
            print(no_code ? to_string(Problem{Kind::RunsCode, model.shards()[call.shard].path(), {}, text}) + "\n"
                          : fmt::format("{}: note: {}\n", printable(source), printable(text)));
        }
        if (no_code && !model.calls().empty()) return false;
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

constexpr std::array flags{
    Flag{
        .name = "--no-code",
        .help = "a checkpoint whose unpickling would call anything but what PyTorch's weights_only allows is bad",
        .manual = R"(With
.Fl -no-code ,
a checkpoint is bad if unpickling it would call anything that the
.Cm weights_only
of PyTorch does not allow; without, a note names each such call.
Nothing is called to find that out.)",
    },
};

ExitCode run(const Typed& typed) {
    const LoadOptions options = load_options(typed);
    const bool no_code = typed.has("--no-code");
    bool all_good = true;
    for (const std::string& source : typed.values("SOURCE"))
        all_good = verify(source, options.source, no_code) && all_good;
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
    .flags = flags,
    .takes = [](const MountOption& option) { return option.is_of_source && option.name != "partial"; },
    .run = run,
};

}  // namespace tensorfs
