#pragma once

#include <cstdint>

#include "core/base/descriptor.hpp"

namespace tensorfs {

/// The signals that a mount obeys. They are blocked in this thread and all that it starts later, and taken here one by
/// one. SIGPIPE is ignored, since whoever reads the log may go. It belongs to one thread.
class Signals {
public:
    /// Throws Failure.
    Signals();

    /// Readable when there is one.
    [[nodiscard]] const Descriptor& pending() const noexcept { return pending_; }

    /// What a signal asks for.
    enum class Wish : std::uint8_t {
        nothing,  // there was none
        end,      // SIGTERM, SIGINT, or SIGHUP because a foreground process has lost its terminal
        reload,   // SIGHUP otherwise, also if nohup(1) lets the process outlive its terminal
    };
    /// Takes a signal. One that ends the mount is logged.
    Wish take();

private:
    bool ends_with_terminal_;  // there is a terminal, and no nohup(1)
    Descriptor pending_;
};

}  // namespace tensorfs
