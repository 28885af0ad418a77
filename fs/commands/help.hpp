#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "fs/commands/commands.hpp"
#include "fs/options/options.hpp"

namespace tensorfs {

// What the program says about itself: the texts come from the tables of verbs and of mount options,
// so that nothing is said of what is not there. No line is wider than a terminal of 80 columns.

/// The first screen, of at most 24 lines: what there is, and where the rest is told.
std::string help();

/// Everything that a verb takes: its arguments and flags, as its `app` knows them, with the app's footer.
std::string verb_help(const CLI::App& app, const Command& command);

/// A line for each mount option that `is_wanted`, to be the footer of a verb that takes them.
std::string option_help(bool (*is_wanted)(const MountOption&));

}  // namespace tensorfs
