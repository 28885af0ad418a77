#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/model/model.hpp"
#include "fs/commands/parse.hpp"
#include "fs/options/options.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

/// Prints what is to be said about one source; whether it is good.
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

}  // namespace

ExitCode run_verify(const Arguments& arguments) {
    std::vector<std::string> sources;
    std::vector<std::string> lists;
    const auto app = make_app("verify");
    app->add_option("SOURCE", sources, "model folders, .safetensors files or indexes")->required();
    add_option_lists(*app, lists, [](const MountOption& o) { return o.is_of_source && o.name != "partial"; });
    if (!parse(*app, arguments)) return ExitCode::ok;

    LoadOptions options;
    for (const std::string& list : lists) apply_option_list(options, list);
    bool all_good = true;
    for (const std::string& source : sources) all_good = verify(source, options.source) && all_good;
    return all_good ? ExitCode::ok : ExitCode::bad;
}

}  // namespace tensorfs
