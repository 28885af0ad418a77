// A user without any rights mounts through fusermount3.

#include <unistd.h>

#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"
#include "tests/support/ordinary_user.hpp"

using namespace tensorfs::tests;

namespace {

constexpr const char* is_mounted = "grep -q \" $PWD/at \" /proc/self/mountinfo";

}  // namespace

TEST_CASE("an ordinary user mounts, reads and unmounts") {
    if (const std::string why = OrdinaryUser::cannot_mount(); !why.empty()) SKIP_TEST(why);
    const OrdinaryUser user;
    const Result result = user.run_script(std::string(R"sh(
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

TEST_CASE("info of another user's mount says who may look") {
    if (const std::string why = OrdinaryUser::cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0) SKIP_TEST("there is no other user to be");
    const OrdinaryUser user;
    const TemporaryFolder folder;
    write_file(folder / "model.safetensors", safetensors_file({{"a.weight", "U8", {4}, "abcd"}}));
    const Mounted mount(folder / "model.safetensors");
    std::filesystem::permissions(std::filesystem::path(mount.path()).parent_path(), std::filesystem::perms(0755));
    const Result result = user.run_script("./tensorfs info '" + mount.path() + "'");
    CHECK(result.code == 6);
    CHECK(result.err ==
          "tensorfs: " + mount.path() + ": Permission denied (without allow_other, only the user who mounted it may look)\n");
}

TEST_CASE("an ordinary user's mount goes with its daemon, also with a file open") {
    if (const std::string why = OrdinaryUser::cannot_mount(); !why.empty()) SKIP_TEST(why);
    const OrdinaryUser user;
    const Result result = user.run_script(std::string(R"sh(
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
