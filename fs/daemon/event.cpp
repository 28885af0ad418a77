#include "fs/daemon/event.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "core/base/error.hpp"
#include "fs/terminal/failure.hpp"

namespace tensorfs {

Event::Event() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!event_) throw Failure(ExitCode::internal, "cannot make an event: " + system_message(errno));
}

void Event::notify() const noexcept {
    const std::uint64_t one = 1;
    if (::write(event_.get(), &one, sizeof one) != sizeof one) std::abort();  // an eventfd takes it
}

bool Event::take() const noexcept {
    std::uint64_t ignored = 0;
    return ::read(event_.get(), &ignored, sizeof ignored) == sizeof ignored;
}

}  // namespace tensorfs
