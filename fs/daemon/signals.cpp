#include "fs/daemon/signals.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/error.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/log.hpp"

namespace tensorfs {
namespace {

/// Whether this process belongs to a terminal, wherever its standard streams lead.
bool has_terminal() { return static_cast<bool>(Descriptor(::open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC))); }

bool is_ignored(int signal) {
    struct sigaction now {};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

Signals::Signals() : ends_with_terminal_(!is_ignored(SIGHUP) && has_terminal()) {
    ::signal(SIGPIPE, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    pending_ = Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!pending_) throw Failure(ExitCode::internal, "cannot set up signals: " + system_message(errno));
}

Signals::Wish Signals::take() {
    signalfd_siginfo signal{};
    if (::read(pending_.get(), &signal, sizeof signal) != sizeof signal) return Wish::nothing;
    // The kernel sends SIGHUP when the terminal is gone; a shell passes it on as if it were its own.
    const bool is_hangup = signal.ssi_code == SI_KERNEL || !has_terminal();
    if (signal.ssi_signo == SIGHUP && !(ends_with_terminal_ && is_hangup)) return Wish::reload;
    spdlog::info("unmounting because of signal {}{}", signal.ssi_signo,
                 signal.ssi_signo == SIGHUP ? ": the terminal is gone" : "");
    return Wish::end;
}

}  // namespace tensorfs
