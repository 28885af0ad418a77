#pragma once

#include <string_view>

#include "core/base/error.hpp"
#include "fs/terminal/exit_code.hpp"
#include "fs/terminal/failure.hpp"

namespace tensorfs {

/// Prints "tensorfs: TEXT" on standard error. The text is printed as it is, so escape what a source wrote.
void complain(std::string_view text);

/// Writes to standard output. Throws Failure (internal) if it cannot: the disk is full, or the pipe is closed.
void print(std::string_view text);

/// Prints all problems of a source on standard error, and returns the exit code that they call for.
ExitCode report(const Error& error);

}  // namespace tensorfs
