#pragma once

#include <span>
#include <string>

#include "fs/command_line/verb.hpp"

namespace tensorfs {

// The parts of the completion for zsh that are made from the program's tables.

/// The verbs and their summaries, as _describe takes them.
std::string zsh_verbs(std::span<const Verb* const> verbs);

/// Arms of a `case` by verb: its flags as _arguments takes them, those that a value follows, what completes its
/// arguments, and its options of -o as _values takes them.
std::string zsh_verb_arms(std::span<const Verb* const> verbs, std::span<const MountOption> options);

}  // namespace tensorfs
