#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>

#include "core/model/model.hpp"
#include "fs/commands/commands.hpp"
#include "fs/options/options.hpp"

namespace tensorfs {

/// Lets `app` read a verb's arguments. True if the verb is to go on; false if help was asked for and
/// has been printed. Throws Failure (usage).
bool parse(CLI::App& app, const Arguments& arguments);

/// An App for the verb of that name, as the table of commands describes it.
std::unique_ptr<CLI::App> make_app(std::string_view verb);

/// The argument -o LIST, as often as it is given, with help for the options that the verb takes.
void add_option_lists(CLI::App& app, std::vector<std::string>& lists, bool (*is_taken)(const MountOption&));

/// A SOURCE argument and -o LIST, as all verbs about one source take them.
struct SourceArguments {
    std::string path;
    std::vector<std::string> lists;

    /// `description` is what may stand for SOURCE, for --help.
    void add_to(CLI::App& app,
                std::string_view description = "a model folder, a .safetensors file, an index or a Hub id");
    /// Finds and loads the model. Throws Error or Failure (usage).
    [[nodiscard]] Model load(OnProblem otherwise = OnProblem::refuse) const;
};

}  // namespace tensorfs
