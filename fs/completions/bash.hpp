#pragma once

#include <span>
#include <string>

#include "fs/command_line/verb.hpp"

namespace tensorfs {

// The parts of the completion for bash that are made from the program's tables: words, and arms of a `case`. What
// they set is told where the template has them.

/// The verbs' names.
std::string bash_verbs(std::span<const Verb* const> verbs);

/// By verb: its flags, those of them that a value follows, what completes its arguments, and its options of -o.
std::string bash_verb_arms(std::span<const Verb* const> verbs, std::span<const MountOption> options);

/// By flag of the verbs and by option of -o: what completes its value.
std::string bash_value_arms(std::span<const Verb* const> verbs, std::span<const MountOption> options);

}  // namespace tensorfs
