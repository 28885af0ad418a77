#pragma once

#include <span>
#include <string>

#include "fs/command_line/verb.hpp"

namespace tensorfs {

// What the program says about itself: the texts come from the tables of verbs and of mount options,
// so that nothing is said of what is not there. No line is wider than a terminal of 80 columns.

/// The first screen, of at most 24 lines: what there is, and where the rest is told.
std::string help(std::span<const Verb* const> verbs);

/// Everything that a verb takes: its arguments, its flags, and the options of -o that it has a use for.
std::string verb_help(const Verb& verb);

}  // namespace tensorfs
