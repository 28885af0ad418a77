#include "fs/daemon/mounts.hpp"

#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>

namespace tensorfs {
namespace {

/// Undoes mountinfo's escapes: space, tab, newline and backslash are \ and three octal digits.
std::string unescape(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            out += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
            i += 3;
        } else {
            out += text[i];
        }
    }
    return out;
}

/// Unmounts by fusermount3, which may do so for an ordinary user. Prints nothing. True if it worked.
bool ask_fusermount(std::string flags, std::string path) {
    std::string program = "fusermount3";
    std::string end = "--";
    const std::array<char*, 5> arguments{program.data(), flags.data(), end.data(), path.data(), nullptr};
    pid_t child = 0;
    if (::posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) return false;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The topmost mount of those for which `is_wanted(path, mount)` holds, if there is one.
template <typename IsWanted>
std::optional<Mount> last_mount(const IsWanted& is_wanted) {
    std::ifstream table("/proc/self/mountinfo");
    std::optional<Mount> found;
    for (std::string line; std::getline(table, line);) {
        // proc(5): ID PARENT MAJ:MIN ROOT MOUNTPOINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS
        std::istringstream words(line);
        std::string word;
        std::string mountpoint;
        Mount mount;
        words >> word >> word >> mount.device >> word >> mountpoint;
        while (words >> word && word != "-") {
        }
        if (words >> mount.type && is_wanted(unescape(mountpoint), mount)) found = mount;
    }
    return found;
}

}  // namespace

std::optional<Mount> find_mount(const std::string& path) {
    return last_mount([&](const std::string& mountpoint, const Mount&) { return mountpoint == path; });
}

bool is_in_mount(const std::string& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) return false;
    const std::string device = std::to_string(major(found.st_dev)) + ':' + std::to_string(minor(found.st_dev));
    return last_mount(
               [&](const std::string&, const Mount& mount) { return mount.device == device && mount.type == our_type; })
        .has_value();
}

bool is_dead_mount(const std::string& path) {
    // Attributes may be cached for ever, but a statfs always asks.
    struct statfs ignored {};
    return ::statfs(path.c_str(), &ignored) != 0 && errno == ENOTCONN;
}

bool unmount_unused(const std::string& path) {
    if (::umount2(path.c_str(), UMOUNT_NOFOLLOW) == 0) return true;
    return errno == EPERM && ask_fusermount("-uq", path);
}

bool detach(const std::string& path) {
    return ::umount2(path.c_str(), MNT_DETACH) == 0 || ask_fusermount("-uzq", path);
}

}  // namespace tensorfs
