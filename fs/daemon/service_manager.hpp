#pragma once

#include <chrono>
#include <string>

namespace tensorfs {

/// What systemd, or whoever else has set NOTIFY_SOCKET, is told of the mount (sd_notify(3)). Where nobody
/// listens, nothing happens. It belongs to one thread.
class ServiceManager {
public:
    /// The mount answers. Also ends what reloading() began. `status` is a line for people.
    void ready(const std::string& status) const;
    /// The source is being looked at again.
    void reloading() const;
    /// The mount is being taken away.
    void stopping() const;

    /// How often alive() is to be said at least; 0 if nobody waits for it (WATCHDOG_USEC).
    [[nodiscard]] std::chrono::microseconds watchdog_interval() const noexcept { return watchdog_; }
    /// Requests are being answered.
    void alive() const;

private:
    static std::chrono::microseconds wanted_watchdog();

    std::chrono::microseconds watchdog_ = wanted_watchdog();
};

}  // namespace tensorfs
