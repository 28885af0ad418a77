#pragma once

#include <spdlog/spdlog.h>

#include "fs/terminal/log_level.hpp"

namespace tensorfs {

// Logging goes through spdlog's default logger: spdlog::info("…"), from any thread. One line an event; text from a
// source passes through printable() first; a tensor's values are never logged. libfuse logs the same way.

/// Logs to standard error as "tensorfs: LEVEL: TEXT"; or, if that is the journal, as "<PRIORITY>TEXT".
void log_to_terminal(LogLevel level);

/// Logs to syslog, and so to the journal, with facility daemon.
void log_to_syslog(LogLevel level);

}  // namespace tensorfs
