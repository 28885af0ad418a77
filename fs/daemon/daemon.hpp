#pragma once

#include <string>
#include <vector>

#include "core/base/descriptor.hpp"

namespace tensorfs {

/// Lets a command return when the daemon it started is ready, or with the daemon's exit code if that fails.
///
/// go() forks before anything is loaded and before there are threads. Only the child returns from it. It works with the
/// terminal still at hand, and either calls ready() or exits with a message and a code. The parent waits for that, and
/// exits likewise.
class Daemon {
public:
    /// In the foreground: does nothing, and ready() does nothing.
    Daemon() = default;

    /// Forks as described. `mountpoint` may be a device that whoever started this has opened (is_device): the only
    /// descriptor of theirs that is kept. Throws Failure.
    static Daemon go(const std::string& mountpoint);

    /// Lets the parent exit with 0, and leaves its session, terminal, working folder and the descriptors that it
    /// inherited, so that no lock or pipe of whoever started it is held. False if the parent is gone,
    /// as after Ctrl-C: then the child should end, too.
    bool ready();

private:
    std::vector<int> inherited_;  // but for the streams and the device; they serve until ready(), as /dev/fd/N
    Descriptor pipe_;             // to the parent; none in the foreground
};

}  // namespace tensorfs
