#pragma once

#include <chrono>
#include <string>

namespace tensorfs {

/// Reports to systemd, or whoever else has set NOTIFY_SOCKET (sd_notify(3)). If nobody has, nothing happens. It belongs
/// to one thread.
class ServiceManager {
public:
    /// The mount answers; or the reload that reloading() reported has ended. `status` is a line for people.
    void ready(const std::string& status) const;
    /// A reload has begun.
    void reloading() const;
    /// The mount is ending.
    void stopping() const;

    /// How often to call alive() at least; 0 if no watchdog waits for it (WATCHDOG_USEC).
    [[nodiscard]] std::chrono::microseconds watchdog_interval() const noexcept { return watchdog_; }
    /// Requests are being answered.
    void alive() const;

private:
    static std::chrono::microseconds wanted_watchdog();

    std::chrono::microseconds watchdog_ = wanted_watchdog();
};

}  // namespace tensorfs
