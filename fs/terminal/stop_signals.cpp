#include "fs/terminal/stop_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/error.hpp"
#include "fs/terminal/failure.hpp"

namespace tensorfs {
namespace {

bool is_ignored(int signal) {
    struct sigaction now {};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

StopSignals::StopSignals() {
    sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        if (!is_ignored(signal)) sigaddset(&set_, signal);
    }
    pending_ = Descriptor(::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!pending_) throw Failure(ExitCode::internal, "cannot set up signals: " + system_message(errno));
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
}

StopSignals::~StopSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool StopSignals::has_come() noexcept {
    if (signal_ != 0) return true;
    signalfd_siginfo found{};
    if (::read(pending_.get(), &found, sizeof found) != sizeof found) return signal_ != 0;
    signal_ = static_cast<int>(found.ssi_signo);
    return true;
}

void StopSignals::obey() noexcept {
    ::pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
    static_cast<void>(::raise(signal_));
}

}  // namespace tensorfs
