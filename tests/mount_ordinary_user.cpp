// A user without any rights mounts through fusermount3.

#include <sys/stat.h>
#include <unistd.h>

#include "tests/catch.hpp"
#include "tests/mounted.hpp"

using namespace tensorfs::tests;

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

/// A user's world: a folder of its own with a model, the program and a mount point.
class World {
public:
    World() {
        write_file(folder_ / "my, model/model.safetensors", safetensors_file({{"a.weight", "U8", {4}, "abcd"}}));
        std::filesystem::copy_file(program(), folder_ / "tensorfs");  // the build may be out of reach
        std::filesystem::create_directory(folder_ / "at");
        std::filesystem::create_directory(folder_ / "device");
        if (::geteuid() != 0) return;
        for (const char* path : {"", "at"}) {
            if (::chown((folder_ / path).c_str(), nobody, nobody) != 0) throw std::runtime_error("cannot chown");
        }
    }

    /// Runs a shell script as the user, in the folder.
    [[nodiscard]] Result run_script(const std::string& script) const {
        std::vector<std::string> command{"sh", "-c", script};
        if (::geteuid() == 0) {
            command.insert(command.begin(),
                           {"unshare", "--mount", "sh", "-c", as_nobody, "as_nobody", folder_ / "device"});
        }
        return run(command, folder_.path().string());
    }

private:
    TemporaryFolder folder_;
    Adopter adopter_;
};

/// Why no ordinary user can mount here; empty if one can.
std::string cannot_mount_as_user() {
    if (const std::string why = cannot_mount(); !why.empty()) return why;
    struct stat found {};
    if (::stat("/usr/bin/fusermount3", &found) != 0 || (found.st_mode & S_ISUID) == 0)
        return "there is no fusermount3 that has root's rights";
    if (::geteuid() == 0 && run({"unshare", "--mount", "setpriv", "--version"}).code != 0)
        return "there is no way to become another user";
    return "";
}

constexpr const char* is_mounted = "grep -q \" $PWD/at \" /proc/self/mountinfo";

}  // namespace

TEST_CASE("an ordinary user mounts, reads and unmounts") {
    if (const std::string why = cannot_mount_as_user(); !why.empty()) SKIP_TEST(why);
    const World world;
    const Result result = world.run_script(std::string(R"sh(
        ./tensorfs 'my, model' at || exit 10
        trap 'fusermount3 -q -u -z at' EXIT
        [ "$(cat at/a/weight)" = abcd ] || exit 11
        [ "$(stat -c %u:%g:%A at/a/weight)" = $(id -u):$(id -g):-r--r--r-- ] || exit 12
        [ "$(getfattr --only-values -n user.tensor.name at/a/weight)" = a.weight ] || exit 13
        [ "$(findmnt -n -o FSTYPE,SOURCE at)" = "fuse.tensorfs $PWD/my, model" ] || exit 14
        fusermount3 -u at || exit 15
        ! )sh") + is_mounted);
    INFO(result.err);
    CHECK(result.code == 0);
    for (const pid_t daemon : Adopter::children()) CHECK(Adopter::wait(daemon) == 0);
}

TEST_CASE("an ordinary user's mount goes with its daemon, also with a file open") {
    if (const std::string why = cannot_mount_as_user(); !why.empty()) SKIP_TEST(why);
    const World world;
    const Result result = world.run_script(std::string(R"sh(
        ./tensorfs -f 'my, model' at &
        trap 'kill -9 $!; fusermount3 -q -u -z at' EXIT
        until )sh") + is_mounted + R"sh(; do kill -0 $! || exit 10; sleep 0.01; done
        exec 3<at/a/weight || exit 11
        kill -TERM $!
        wait $! || exit 12
        trap - EXIT
        ! )sh" + is_mounted);
    INFO(result.err);
    CHECK(result.code == 0);
}
