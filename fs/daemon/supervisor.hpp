#pragma once

#include <chrono>

#include "fs/daemon/reloader.hpp"
#include "fs/daemon/service_manager.hpp"
#include "fs/daemon/session.hpp"
#include "fs/daemon/signals.hpp"
#include "fs/options/options.hpp"
#include "fs/serving/served.hpp"

namespace tensorfs {

/// What a mount does besides answering: it obeys signals, reloads its source, ends when nobody uses it, and reports to
/// the service manager.
class Supervisor {
public:
    /// REQUIRES: the session has started, and all arguments outlive this.
    Supervisor(Signals& signals, const MountOptions& options, Served& served, Session& session);

    /// Returns when the mount is gone: unmounted by somebody, by a signal, or because it was idle.
    void run();

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] Clock::time_point next_check() const;
    bool obey_signal();
    void check_use(Clock::time_point now);
    void check_answering(Clock::time_point now);
    void check_old_models(Clock::time_point now);
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
    Clock::time_point next_forget_ = Clock::time_point::max();
    Clock::duration forget_pause_{};
};

}  // namespace tensorfs
