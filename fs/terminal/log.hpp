#pragma once

#include <spdlog/spdlog.h>

#include "fs/terminal/log_level.hpp"

namespace tensorfs {

// Logging goes through spdlog's default logger: spdlog::info("…"), from any thread. One line an
// event; text from a source passes through printable() first; no tensor's content.

// libfuse's own messages come the same way.

/// Logs to standard error, as "tensorfs: LEVEL: TEXT"; where it leads to the journal, as that asks for levels.
void log_to_terminal(LogLevel level);

/// Logs to syslog (and so to the journal), as facility daemon.
void log_to_syslog(LogLevel level);

}  // namespace tensorfs
