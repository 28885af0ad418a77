#include "tests/support/mounted.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace tensorfs::tests {
namespace {

std::string contents(const Descriptor& file) {
    std::string all;
    std::string part(65536, '\0');
    ssize_t got = 0;
    while ((got = ::pread(file.get(), part.data(), part.size(), static_cast<off_t>(all.size()))) > 0)
        all.append(part, 0, static_cast<std::size_t>(got));
    return all;
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

/// A field of mountinfo: `\040` stands for a space.
std::string unescape(const std::string& field) {
    std::string text;
    for (std::size_t at = 0; at < field.size(); ++at) {
        if (field[at] == '\\') {
            text += static_cast<char>(std::stoi(field.substr(at + 1, 3), nullptr, 8));
            at += 3;
        } else {
            text += field[at];
        }
    }
    return text;
}

std::vector<std::string> mount_command(const std::string& source, const std::string& at,
                                       const std::vector<std::string>& options) {
    // What goes wrong is of interest to tests, not what goes well.
    std::vector<std::string> command{program(), "-f", "-o", "log=warning", source, at};
    command.insert(command.end(), options.begin(), options.end());
    return command;
}

}  // namespace

const std::string& program() {
    static const std::string path = TENSORFS_PROGRAM;
    return path;
}

std::string cannot_mount() {
    const Descriptor device(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
    return device ? "" : std::string("/dev/fuse cannot be opened: ") + std::strerror(errno);
}

bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds longest) {
    const auto deadline = std::chrono::steady_clock::now() + longest;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

Child::Child(const std::vector<std::string>& command, const std::string& folder)
    : out_(::memfd_create("out", MFD_CLOEXEC)), err_(::memfd_create("err", MFD_CLOEXEC)) {
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("cannot start a process");
    if (pid_ > 0) return;
    ::signal(SIGTERM, SIG_DFL);  // not as the tests' framework has it
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(out_.get(), STDOUT_FILENO);
    ::dup2(err_.get(), STDERR_FILENO);
    if (::getppid() == parent && ::chdir(folder.c_str()) == 0) ::execvp(arguments[0], arguments.data());
    ::_exit(127);
}

Child::~Child() {
    if (ended()) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

void Child::signal(int number) const {
    if (!status_) ::kill(pid_, number);  // else the number may be another process's by now
}

bool Child::ended() {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return status_.has_value();
}

std::string Child::errors() const { return contents(err_); }

Result Child::wait() {
    if (!eventually([this] { return ended(); })) throw std::runtime_error("a program does not end: " + errors());
    return {exit_code(*status_), contents(out_), contents(err_)};
}

Result run(const std::vector<std::string>& command, const std::string& folder) { return Child(command, folder).wait(); }

Result run_shell(const std::string& script, const std::vector<std::string>& arguments) {
    std::vector<std::string> command{"sh", "-c", script};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command);
}

std::vector<std::pair<std::string, MountEntry>> list_mounts() {
    std::ifstream list("/proc/self/mountinfo");
    std::vector<std::pair<std::string, MountEntry>> all;
    for (std::string line; std::getline(list, line);) {
        std::istringstream fields(line);
        std::string skipped;
        std::string where;
        MountEntry entry;
        fields >> skipped >> skipped >> skipped >> skipped >> where >> entry.options;
        while (fields >> skipped && skipped != "-") {
        }
        fields >> entry.type >> entry.source >> entry.super_options;
        entry.source = unescape(entry.source);
        all.emplace_back(unescape(where), entry);
    }
    return all;
}

std::optional<MountEntry> find_mount(const std::string& path) {
    std::optional<MountEntry> topmost;
    for (const auto& [where, entry] : list_mounts()) {
        if (where == path) topmost = entry;
    }
    return topmost;
}

bool unmount(const std::string& path) {
    return eventually([&] { return run({"fusermount3", "-u", path}).code == 0; });
}

void clear_mounts(const std::string& path) {
    const auto mounts = list_mounts();
    for (auto mount = mounts.rbegin(); mount != mounts.rend(); ++mount) {  // the last is on top
        const std::string& where = mount->first;
        if (where != path && !where.starts_with(path + "/")) continue;
        // Who may not do that may have mounted through fusermount3.
        if (::umount2(where.c_str(), MNT_DETACH) != 0) run({"fusermount3", "-u", "-z", where});
    }
}

MountPoint::MountPoint() : path_(std::filesystem::canonical(folder_.path()).string()) {}

MountPoint::~MountPoint() { clear_mounts(path_); }

Adopter::Adopter() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

Adopter::~Adopter() {
    for (const pid_t child : children()) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

std::vector<pid_t> Adopter::children() {
    std::vector<pid_t> found;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream list(thread.path() / "children");
        for (pid_t child = 0; list >> child;) found.push_back(child);
    }
    return found;
}

int Adopter::wait(pid_t child) {
    int status = 0;
    const auto reaped = [&] { return ::waitpid(child, &status, WNOHANG) == child; };
    if (!eventually(reaped)) throw std::runtime_error("a daemon does not end");
    return exit_code(status);
}

Mounted::Mounted(const std::string& source, const std::vector<std::string>& options)
    : daemon_(mount_command(source, at_.path(), options)) {
    // A folder of the mount's own answers, so it is there and someone is listening.
    const auto answers = [&] { return is_mounted() && std::filesystem::exists(at_ / ".tensorfs"); };
    if (!eventually([&] { return daemon_.ended() || answers(); }) || daemon_.ended())
        throw std::runtime_error("cannot mount " + source + ": " + daemon_.errors());
}

Mounted::~Mounted() {
    daemon_.signal(SIGTERM);
    if (eventually([this] { return daemon_.ended(); })) return;
    ::umount2(path().c_str(), MNT_DETACH);  // the Child that is left is killed
}

std::uint64_t Mounted::requests(const std::string& kind) const {
    const std::string stats = get_xattr(path(), "user.tensorfs.stats").value();
    return nlohmann::json::parse(stats).at("requests").at(kind).get<std::uint64_t>();
}

bool is_read_from_cache(const Mounted& mount, const std::string& path) {
    constexpr std::uint64_t largest_request = 1 << 20;
    const std::uint64_t tolerated = std::filesystem::file_size(path) / largest_request / 4;
    for (int i = 0; i < 5; ++i) {
        const std::uint64_t before = mount.requests("read");
        read_file(path);
        if (mount.requests("read") - before <= tolerated) return true;
    }
    return false;
}

std::optional<std::string> get_xattr(const std::string& path, const std::string& name, int* error) {
    std::string value(65536, '\0');
    const ssize_t got = ::lgetxattr(path.c_str(), name.c_str(), value.data(), value.size());
    if (error != nullptr) *error = got < 0 ? errno : 0;
    if (got < 0) return std::nullopt;
    value.resize(static_cast<std::size_t>(got));
    return value;
}

std::vector<std::string> list_xattrs(const std::string& path) {
    std::string list(65536, '\0');
    const ssize_t got = ::llistxattr(path.c_str(), list.data(), list.size());
    if (got < 0) throw std::runtime_error("cannot list the attributes of " + path);
    std::istringstream names(list.substr(0, static_cast<std::size_t>(got)));
    std::vector<std::string> all;
    for (std::string name; std::getline(names, name, '\0');) all.push_back(name);
    std::sort(all.begin(), all.end());
    return all;
}

std::vector<Listed> list_folder(const std::string& path) {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
    if (!folder) throw std::runtime_error("cannot list " + path);
    std::vector<Listed> all;
    while (const dirent* entry = ::readdir(folder.get())) {
        const std::string name = entry->d_name;
        if (name != "." && name != "..") all.push_back({name, entry->d_ino, entry->d_type == DT_DIR});
    }
    return all;
}

std::vector<std::string> names_in(const std::string& path) {
    std::vector<std::string> names;
    for (const Listed& entry : list_folder(path)) names.push_back(entry.name);
    return names;
}

void make_model(std::vector<std::string> arguments, const std::string& folder) {
    arguments.insert(arguments.begin(), TENSORFS_SCRIPTS "/make-model");
    arguments.push_back(folder);
    const Result made = run(arguments);
    if (made.code != 0) throw std::runtime_error("make-model failed: " + made.err);
}

}  // namespace tensorfs::tests
