#include "tests/support/clients.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "tests/support/mounted.hpp"

namespace tensorfs::tests {

Forked::Forked(const std::function<int()>& work) : pid_(::fork()) {
    if (pid_ < 0) throw std::runtime_error("cannot start a process");
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGBUS, SIG_DFL);
    ::_exit(work());
}

Forked::~Forked() {
    if (ended()) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

bool Forked::ended() {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return status_.has_value();
}

int Forked::wait() {
    if (!eventually([this] { return ended(); })) throw std::runtime_error("a process does not end");
    return WIFEXITED(*status_) ? WEXITSTATUS(*status_) : -WTERMSIG(*status_);
}

char process_state(pid_t pid) {
    try {
        const std::string line = read_file("/proc/" + std::to_string(pid) + "/stat");
        return line.at(line.rfind(')') + 2);  // the name before it may hold anything
    } catch (const std::exception&) {
        return 0;  // it has gone
    }
}

Descriptor open_direct(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
    if (!file) throw std::runtime_error("cannot open " + path);
    return file;
}

Got read_once(const Descriptor& file, std::size_t offset, std::size_t size) {
    Got got{std::string(size, '?'), 0};
    const ssize_t count = ::pread(file.get(), got.bytes.data(), size, static_cast<off_t>(offset));
    got.error = count < 0 ? errno : 0;
    got.bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return got;
}

int look_through_mapping(const std::string& path, std::size_t offset, std::string_view expected) {
    Forked looker([&] {
        const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        const std::size_t size = offset + expected.size();
        void* const map = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
        if (map == MAP_FAILED) return 2;
        return std::memcmp(static_cast<const char*>(map) + offset, expected.data(), expected.size()) == 0 ? 0 : 1;
    });
    return looker.wait();
}

std::size_t count_of(std::string_view part, std::string_view text) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

}  // namespace tensorfs::tests
