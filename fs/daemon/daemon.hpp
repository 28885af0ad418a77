#pragma once

#include "core/base/descriptor.hpp"

namespace tensorfs {

/// Lets a command return only when what it started is ready, or with its exit code if it fails.
///
/// go() forks at once, before anything is loaded and before there are threads. The parent waits and
/// never returns from it; the child does, does the work with the terminal still at hand, and either
/// calls ready() or exits with a message and a code, which the parent takes over.
class Daemon {
public:
    /// In the foreground: does nothing, and ready() does nothing.
    Daemon() = default;

    /// Forks as described. Throws Failure.
    static Daemon go();

    /// Lets the parent exit with 0 and leaves its session, terminal and working folder. False if
    /// the parent is gone, as after Ctrl-C: then the child had better end, too.
    bool ready();

private:
    Descriptor pipe_;  // to the parent; none in the foreground
};

}  // namespace tensorfs
