#include "fs/daemon/daemon.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/base/error.hpp"
#include "fs/daemon/mountpoint.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

/// The parent's part: waits until the child is ready or has ended, and exits likewise.
[[noreturn]] void follow(pid_t child, const Descriptor& pipe) {
    char byte = 0;
    ssize_t got = 0;
    do {
        got = ::read(pipe.get(), &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got == 1) std::_Exit(static_cast<int>(ExitCode::ok));

    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) std::_Exit(WEXITSTATUS(status));
    complain("the daemon was killed by signal " + std::to_string(WTERMSIG(status)));
    std::_Exit(static_cast<int>(ExitCode::internal));
}

/// The descriptors that are open, but for the streams and for `mountpoint` if it is one.
std::vector<int> list_inherited(const std::string& mountpoint) {
    const std::filesystem::path device = is_device(mountpoint) ? std::filesystem::path(mountpoint).filename() : "";
    std::vector<int> numbers;
    std::error_code error;
    for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end;
         at.increment(error)) {
        const std::string name = at->path().filename().string();
        int number = -1;
        std::from_chars(name.data(), name.data() + name.size(), number);
        if (number > STDERR_FILENO && name != device) numbers.push_back(number);
    }
    if (error) throw Failure(ExitCode::internal, "cannot list the open files: " + error.message());
    // The listing's own is closed by now.
    std::erase_if(numbers, [](int number) { return ::fcntl(number, F_GETFD) < 0; });
    return numbers;
}

}  // namespace

Daemon Daemon::go(const std::string& mountpoint) {
    std::vector<int> inherited = list_inherited(mountpoint);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw Failure(ExitCode::internal, "cannot make a pipe: " + system_message(errno));
    }
    Descriptor from_child(ends[0]);
    Descriptor to_parent(ends[1]);
    const pid_t child = ::fork();
    if (child < 0) throw Failure(ExitCode::internal, "cannot start a process: " + system_message(errno));
    if (child > 0) {
        to_parent.reset();
        follow(child, from_child);
    }
    ::signal(SIGPIPE, SIG_IGN);
    Daemon daemon;
    daemon.inherited_ = std::move(inherited);
    daemon.pipe_ = std::move(to_parent);
    return daemon;
}

bool Daemon::ready() {
    if (!pipe_) return true;
    ::setsid();
    const Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (null) {
        for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null.get(), stream);
    }
    for (const int number : inherited_) ::close(number);
    inherited_.clear();
    if (::chdir("/") != 0) return false;
    const char byte = 0;
    const bool told = ::write(pipe_.get(), &byte, 1) == 1;
    pipe_.reset();
    return told;
}

}  // namespace tensorfs
