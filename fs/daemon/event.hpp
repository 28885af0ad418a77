#pragma once

#include "core/base/descriptor.hpp"

namespace tensorfs {

/// An event that one thread waits for by poll(2), and others notify.
class Event {
public:
    /// Throws Failure.
    Event();

    /// It has happened. Thread-safe.
    void notify() const noexcept;
    /// Resets it. False if it had not happened.
    bool take() const noexcept;
    /// Readable when it has happened.
    [[nodiscard]] const Descriptor& pending() const noexcept { return event_; }

private:
    Descriptor event_;  // an eventfd
};

}  // namespace tensorfs
