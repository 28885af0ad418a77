#include "fs/daemon/mountpoint.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "fs/daemon/mounts.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/log.hpp"

namespace tensorfs {
namespace {

[[noreturn]] void refuse_mountpoint(const std::string& path, std::string_view why) {
    throw Failure(ExitCode::mountpoint, fmt::format("cannot mount on {}: {}", printable(path), why));
}

}  // namespace

std::string real_path(const std::string& path) {
    std::error_code error;
    std::filesystem::path real = std::filesystem::canonical(path, error);
    if (!error) return real.string();
    const std::filesystem::path given(path);
    real = std::filesystem::canonical(given.parent_path(), error);
    return error ? path : (real / given.filename()).string();
}

void check_mountpoint(const std::string& path) {
    const std::optional<Mount> there = find_mount(real_path(path));
    const bool is_ours = there && there->type == our_type;
    if (is_dead_mount(path)) {
        if (!is_ours || !detach(path)) {
            refuse_mountpoint(path, fmt::format("a mount whose daemon is gone is still there; clear it with "
                                                "`fusermount3 -uz {}`",
                                                printable(path)));
        }
        spdlog::warn("{}: cleared a mount whose daemon was gone", printable(path));
    } else if (is_ours) {
        refuse_mountpoint(path, "a model is mounted there already");
    }
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) {
        refuse_mountpoint(path, errno == ENOENT ? "there is no such folder" : system_message(errno));
    }
    if (!S_ISDIR(found.st_mode)) refuse_mountpoint(path, "it is not a folder");
    std::error_code unreadable;  // whoever may not list it may mount on it
    if (!std::filesystem::is_empty(path, unreadable) && !unreadable) {
        spdlog::warn("{}: not empty; what is in it is hidden while the model is mounted there", printable(path));
    }
}

bool is_device(const std::string& mountpoint) {
    constexpr std::string_view folder = "/dev/fd/";
    return mountpoint.starts_with(folder) && mountpoint.size() > folder.size() &&
           mountpoint.find_first_not_of("0123456789", folder.size()) == std::string::npos;
}

}  // namespace tensorfs
