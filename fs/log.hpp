#pragma once

#include <spdlog/spdlog.h>

namespace tensorfs {

// Logging goes through spdlog's default logger: spdlog::info("…"), from any thread. One line an
// event; text from a source passes through printable() first; no tensor's content.

/// Logs to standard error, as "tensorfs: LEVEL: TEXT"; with debug messages if `verbose`. libfuse's
/// own messages come the same way from then on.
void log_to_terminal(bool verbose);

/// Logs to syslog (and so to the journal), as facility daemon.
void log_to_syslog();

}  // namespace tensorfs
