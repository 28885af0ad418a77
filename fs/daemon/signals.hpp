#pragma once

#include <cstdint>

#include "core/base/descriptor.hpp"

namespace tensorfs {

/// The signals that a mount obeys. From its making on, all threads that are started later leave them to this.
/// SIGPIPE is ignored: whoever reads the log may go. It belongs to one thread.
class Signals {
public:
    /// Throws Failure.
    Signals();

    /// Readable when there is one.
    [[nodiscard]] const Descriptor& pending() const noexcept { return pending_; }

    /// What one of them wants.
    enum class Wish : std::uint8_t {
        nothing,     // there is none after all
        end,         // SIGTERM, SIGINT, or SIGHUP since the terminal of a foreground process is gone
        look_again,  // SIGHUP otherwise, also where nohup(1) keeps a process after its terminal
    };
    /// Takes one, and logs what ends the mount.
    Wish take();

private:
    bool ends_with_terminal_;  // there is a terminal, and nohup was not asked to outlive it
    Descriptor pending_;
};

}  // namespace tensorfs
