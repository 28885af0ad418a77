#pragma once

#include <chrono>

#include "fs/daemon/reloader.hpp"
#include "fs/daemon/service_manager.hpp"
#include "fs/daemon/session.hpp"
#include "fs/daemon/signals.hpp"
#include "fs/options/options.hpp"
#include "fs/serving/served.hpp"

namespace tensorfs {

/// What a mount does besides answering: it obeys signals, follows its source, goes when nobody uses it, and
/// tells the service manager that all is well.
class Supervisor {
public:
    /// The session has started. All must outlive it.
    Supervisor(Signals& signals, const MountOptions& options, Served& served, Session& session);

    /// Returns when the mount is gone: unmounted by whoever may, by a signal, or because it was idle.
    void run();

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] Clock::time_point next_look() const;
    bool obey_signal();
    void look_for_use(Clock::time_point now);
    void tell_alive(Clock::time_point now);
    void let_go_of_old(Clock::time_point now);
    void stop();
    [[nodiscard]] std::string status() const;

    Signals& signals_;
    const MountOptions& options_;
    Served& served_;
    Session& session_;
    ServiceManager manager_;
    Reloader reloader_;

    Clock::time_point next_alive_ = Clock::now();
    Clock::time_point next_use_ = Clock::now();
    Clock::time_point last_use_ = Clock::now();
    std::uint64_t uses_ = 0;  // at last_use_
    Clock::time_point next_tidy_ = Clock::time_point::max();
    Clock::duration tidy_pause_{};
};

}  // namespace tensorfs
