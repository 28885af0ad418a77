#include "tests/support/ordinary_user.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>

namespace tensorfs::tests {
namespace {

constexpr uid_t nobody = 65534;

/// Runs its arguments as `nobody`, where this is root; in a mount namespace of its own, so that it
/// can have a /dev/fuse for everyone even if the system's is root's.
constexpr const char* as_nobody = R"sh(
set -e
if [ $(stat -L -c %a /dev/fuse) != 666 ]; then
    mount -t tmpfs -o mode=755 tmpfs "$1"
    mknod -m 666 "$1/fuse" c $(stat -L -c '%Hr %Lr' /dev/fuse)
    mount --bind "$1/fuse" /dev/fuse
fi
shift
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
)sh";

}  // namespace

std::string OrdinaryUser::cannot_mount() {
    if (const std::string why = tests::cannot_mount(); !why.empty()) return why;
    struct stat found {};
    if (::stat("/usr/bin/fusermount3", &found) != 0 || (found.st_mode & S_ISUID) == 0)
        return "there is no fusermount3 that has root's rights";
    if (::geteuid() == 0 && run({"unshare", "--mount", "setpriv", "--version"}).code != 0)
        return "there is no way to become another user";
    return "";
}

OrdinaryUser::OrdinaryUser() {
    write_file(folder_ / "my, model/model.safetensors", safetensors_file({{"a.weight", "U8", {4}, "abcd"}}));
    std::filesystem::copy_file(program(), folder_ / "tensorfs");  // the build may be out of reach
    std::filesystem::create_directory(folder_ / "at");
    std::filesystem::create_directory(folder_ / "device");
    if (::geteuid() != 0) return;
    for (const char* path : {"", "at"}) {
        if (::chown((folder_ / path).c_str(), nobody, nobody) != 0) throw std::runtime_error("cannot chown");
    }
}

Result OrdinaryUser::run_script(const std::string& script) const {
    std::vector<std::string> command{"sh", "-c", script};
    if (::geteuid() == 0) {
        command.insert(command.begin(), {"unshare", "--mount", "sh", "-c", as_nobody, "as_nobody", folder_ / "device"});
    }
    return run(command, folder_.path().string());
}

}  // namespace tensorfs::tests
