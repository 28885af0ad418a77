#pragma once

#include <span>
#include <string>

#include "fs/command_line/verb.hpp"

namespace tensorfs {

// The parts of the manual that are made from the program's tables, in mdoc(7).

/// An item of a list for each verb: its usage, and what it, its arguments and its flags say of themselves.
std::string manual_of_verbs(std::span<const Verb* const> verbs);

/// An item of a list for each mount option.
std::string manual_of_options(std::span<const MountOption> options);

/// The options that all verbs take, as the beginning of a sentence.
std::string manual_of_source_options(std::span<const MountOption> options);

}  // namespace tensorfs
