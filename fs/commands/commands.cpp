#include "fs/commands/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/escape.hpp"
#include "fs/commands/help.hpp"
#include "fs/commands/parse.hpp"
#include "fs/daemon/mounts.hpp"
#include "fs/options/options.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

constexpr std::array table{
    Command{"mount", "SOURCE MOUNTPOINT [-f] [-d] [-o OPTION[,OPTION...]]",
            "show a model as a folder (the word may be left out)", run_mount},
    Command{"ls", "SOURCE [--json|--names] [-o OPTION]", "list the tensors: name, dtype, shape, bytes", run_ls},
    Command{"info", "SOURCE|MOUNTPOINT [--json] [-o OPTION]", "sum up a model, or what a mount does", run_info},
    Command{"verify", "SOURCE... [-o OPTION]", "check against the format's rules; a line for each problem", run_verify},
    Command{"cat", "SOURCE NAME [--format raw|npy|f32|text] [--slice SLICE] [-o OPTION]",
            "write a tensor, or a slice of it, or show it", run_cat},
    Command{"diff", "SOURCE OTHER [-o OPTION]", "compare two models, tensor by tensor", run_diff},
    Command{"sum", "SOURCE [-o OPTION]", "checksums that `sha256sum -c` checks in the mount", run_sum},
    Command{"warm", "SOURCE|MOUNTPOINT [PATTERN...] [-o OPTION]", "load tensors into memory ahead of use", run_warm},
};

}  // namespace

std::span<const Command> commands() { return table; }

std::unique_ptr<CLI::App> make_app(std::string_view verb) {
    const auto* const command =
        std::find_if(table.begin(), table.end(), [&](const Command& c) { return c.name == verb; });
    auto app = std::make_unique<CLI::App>(std::string(command->summary), fmt::format("tensorfs {}", verb));
    app->set_help_flag("-h,--help", "this text");
    app->formatter_fn(
        [command](const CLI::App* a, const std::string&, CLI::AppFormatMode) { return verb_help(*a, *command); });
    return app;
}

void add_option_lists(CLI::App& app, std::vector<std::string>& lists, bool (*is_taken)(const MountOption&)) {
    app.add_option("-o", lists, "options, as below")->type_name("LIST")->allow_extra_args(false);
    app.footer(option_help(is_taken));
}

void SourceArguments::add_to(CLI::App& app, std::string_view description) {
    app.add_option("SOURCE", path, std::string(description))->required();
    add_option_lists(app, lists, [](const MountOption& option) { return option.is_of_source; });
}

Model SourceArguments::load(OnProblem otherwise) const {
    LoadOptions options{{}, otherwise};
    for (const std::string& list : lists) apply_option_list(options, list);
    try {
        return Model::load(find_source(path, options.source), options.on_problem);
    } catch (const Error&) {
        if (is_dead_mount(path)) {
            complain(
                fmt::format("note: the daemon of the mount there is gone: mount again, or clear it with "
                            "`fusermount3 -uz {}`",
                            printable(path)));
        } else if (is_in_mount(path)) {
            complain(fmt::format("note: {} is in a mount of tensorfs; `tensorfs info MOUNTPOINT` tells of which source",
                                 printable(path)));
        }
        throw;
    }
}

bool parse(CLI::App& app, const Arguments& arguments) {
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the back
        return true;
    } catch (const CLI::CallForHelp&) {
        print(app.help());
        return false;
    } catch (const CLI::ParseError& e) {
        throw Failure(ExitCode::usage, fmt::format("{} (try `{} --help`)", printable(e.what()), app.get_name()));
    }
}

}  // namespace tensorfs
