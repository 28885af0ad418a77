#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fs/terminal/exit_code.hpp"

namespace tensorfs {

/// What followed the verb.
using Arguments = std::vector<std::string>;

// The verbs, one file each. They print to standard output and throw Error or Failure.
ExitCode run_mount(const Arguments& arguments);
ExitCode run_ls(const Arguments& arguments);
ExitCode run_info(const Arguments& arguments);
ExitCode run_verify(const Arguments& arguments);
ExitCode run_cat(const Arguments& arguments);
ExitCode run_diff(const Arguments& arguments);
ExitCode run_sum(const Arguments& arguments);
ExitCode run_warm(const Arguments& arguments);

/// A verb: its name, what it takes and does in a line each, and its function.
struct Command {
    std::string_view name;
    std::string_view synopsis;
    std::string_view summary;
    ExitCode (*run)(const Arguments&);
};

/// All verbs, in the order of --help.
std::span<const Command> commands();

}  // namespace tensorfs
