#pragma once

#include <atomic>
#include <csignal>

#include "core/base/descriptor.hpp"

namespace tensorfs {

/// SIGINT, SIGTERM and SIGHUP, for work that must clean up before it ends: they are blocked in this thread and all that
/// it starts later, and asked for. Those that whoever started the program has it ignore stay ignored.
class StopSignals {
public:
    /// Throws Failure.
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    /// Whether one has come. Any thread may ask.
    [[nodiscard]] bool has_come() noexcept;
    /// Ends the process as that signal does. REQUIRES: has_come() said so.
    void obey() noexcept;

private:
    sigset_t set_{};
    sigset_t before_{};
    Descriptor pending_;
    std::atomic<int> signal_{0};
};

}  // namespace tensorfs
