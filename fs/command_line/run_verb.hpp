#pragma once

#include <string>
#include <vector>

#include "fs/command_line/verb.hpp"
#include "fs/terminal/exit_code.hpp"

namespace tensorfs {

/// Parses the words after the verb and runs it, or prints its help if that was asked for. Throws what Verb::run
/// does, and Failure (usage).
ExitCode run_verb(const Verb& verb, const std::vector<std::string>& words);

}  // namespace tensorfs
