#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/base/descriptor.hpp"
#include "tests/support/mounted.hpp"
#include "tests/support/support.hpp"

namespace tensorfs::tests {

/// What stands in for the service manager where there is none: the socket that NOTIFY_SOCKET names, as of
/// sd_notify(3).
class NotifySocket {
public:
    NotifySocket();

    /// For env(1), in front of a command: "NOTIFY_SOCKET=…".
    [[nodiscard]] std::string variable() const { return "NOTIFY_SOCKET=" + path_; }
    /// The next message, whose lines are NAME=VALUE; nothing if none comes in time.
    [[nodiscard]] std::optional<std::string> next(std::chrono::milliseconds longest = patience) const;
    /// The next that has this line, others before it passed over. Throws std::runtime_error if none comes.
    [[nodiscard]] std::string wait_for(const std::string& line) const;
    /// All that have come so far.
    [[nodiscard]] std::vector<std::string> all() const;

private:
    TemporaryFolder folder_;
    std::string path_;
    tensorfs::Descriptor socket_;
};

/// Whether a message has this line.
bool has_line(const std::string& message, const std::string& line);

}  // namespace tensorfs::tests
