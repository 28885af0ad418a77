#pragma once

#include "core/base/descriptor.hpp"

namespace tensorfs {

/// Something that one thread waits for, among others in a poll(2), and another says has happened.
class Event {
public:
    /// Throws Failure.
    Event();

    /// It has happened. For any thread.
    void notify() const noexcept;
    /// Takes that back; false if it had not happened.
    bool take() const noexcept;
    /// Readable when it has happened.
    [[nodiscard]] const Descriptor& pending() const noexcept { return event_; }

private:
    Descriptor event_;  // an eventfd
};

}  // namespace tensorfs
