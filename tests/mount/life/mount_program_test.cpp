// mount(8) and fstab, and mount points that were mounted by somebody else: /dev/fd/N.

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

/// Why mount(8) cannot be tried here; empty if it can.
std::string cannot_run_mount() {
    if (const std::string why = cannot_mount(); !why.empty()) return why;
    if (::geteuid() != 0) return "this is not root";
    if (::access("/sbin/mount.fuse", X_OK) != 0) return "there is no mount.fuse (of the package fuse3)";
    if (run({"unshare", "-m", "true"}).code != 0) return "there can be no namespaces of mounts";
    return {};
}

/// A model, a folder to mount on, and a shell for which tensorfs is installed: mount(8) looks for it where programs
/// are, so a namespace of mounts has it there.
class Installed {
public:
    Installed() {
        write_file(folder_ / "model/m.safetensors", safetensors_file({{"a.weight", "U8", {4}, "abcd"}}));
        for (const char* name : {"at", "bin"}) std::filesystem::create_directory(folder_ / name);
        std::filesystem::create_symlink(program(), folder_ / "bin/tensorfs");
        write_file(folder_ / "fstab", folder_ / "model" + " " + folder_ / "at" +
                                          " fuse.tensorfs ro,nofail,_netdev,noatime,x-systemd.automount,uid=7,"
                                          "x-systemd.requires-mounts-for=/models,allow_other 0 0\n");
    }

    /// `is_mounted`, `is_gone` (waits for a process's end) and `daemon` (its number) help. Nothing stays mounted.
    [[nodiscard]] Result run_script(const std::string& script) const {
        return run({"unshare", "-m", "sh", "-c",
                    R"sh(
                        cd "$0" || exit 1
                        mount --bind bin /usr/local/bin || exit 1
                        trap 'umount -l at 2>/dev/null' EXIT
                        is_mounted() { grep -q " $PWD/at " /proc/self/mountinfo; }
                        is_gone() { for i in $(seq 1000); do grep -qs "^State:.[RSDTI]" /proc/$1/status || return 0; sleep 0.01; done; return 1; }
                        daemon() { pgrep -f "^tensorfs $PWD/model "; }
                    )sh" +
                        script,
                    folder_.path().string()});
    }

private:
    TemporaryFolder folder_;
};

void check(const Result& result, const std::string& out) {
    INFO(result.err);
    CHECK(result.out == out);
    CHECK(result.code == 0);
}

}  // namespace

TEST_CASE("mount -t fuse.tensorfs mounts, with options behind, and umount ends the daemon") {
    if (const std::string why = cannot_run_mount(); !why.empty()) SKIP_TEST(why);
    check(Installed().run_script(R"sh(
        mount -t fuse.tensorfs model at -o allow_other,umask=0227 && cat at/a/weight && stat -c ' %A' at/a/weight
        pid=$(daemon) && umount at && is_gone $pid && ! is_mounted && echo ended
    )sh"),
          "abcd -r--r-----\nended\n");
}

TEST_CASE("a line of fstab is mounted by its folder alone, with what systemd and mount(8) want there") {
    if (const std::string why = cannot_run_mount(); !why.empty()) SKIP_TEST(why);
    check(Installed().run_script(R"sh(
        mount --fstab fstab "$PWD/at" && cat at/a/weight && stat -c ' %u' at
        mount --fstab fstab -a && umount at && mount --fstab fstab -a && is_mounted && cat at/a/weight
    )sh"),
          "abcd 7\nabcd");
}

TEST_CASE("mount(8) says what is wrong with a source or an option, in the program's words and exit code") {
    if (const std::string why = cannot_run_mount(); !why.empty()) SKIP_TEST(why);
    const Result result = Installed().run_script(R"sh(
        mount -t fuse.tensorfs "$PWD/nothing" at; echo $?
        mount -t fuse.tensorfs model at -o nonsense; echo $?
        mount -t fuse.tensorfs model at && mount -o remount,ro at; echo $?
    )sh");
    CHECK(result.out == "3\n2\n2\n");
    for (const char* message : {"NoSuchSource", "unknown mount option \"nonsense\"", "unmount it and mount again"}) {
        INFO(message << " in " << result.err);
        CHECK(result.err.find(message) != std::string::npos);
    }
}

TEST_CASE("after its daemon was killed, a mount comes back by the same command, also by fstab") {
    if (const std::string why = cannot_run_mount(); !why.empty()) SKIP_TEST(why);
    const Result result = Installed().run_script(R"sh(
        kill_daemon() { pid=$(daemon); kill -KILL $pid; is_gone $pid; }
        mount -t fuse.tensorfs model at && kill_daemon; ls at 2>/dev/null || echo dead
        mount -t fuse.tensorfs model at && cat at/a/weight && umount at && echo
        mount --fstab fstab "$PWD/at" && kill_daemon; mount --fstab fstab "$PWD/at" && cat at/a/weight && echo
        kill_daemon; umount at && ! is_mounted && echo cleared
    )sh");
    check(result, "dead\nabcd\nabcd\ncleared\n");
    CHECK(result.err.find("cleared a mount whose daemon was gone") != std::string::npos);
}

TEST_CASE("unmounted lazily, a mount serves who has it open, and its daemon ends after that") {
    if (const std::string why = cannot_run_mount(); !why.empty()) SKIP_TEST(why);
    check(Installed().run_script(R"sh(
        mount -t fuse.tensorfs model at && exec 7<at/a/weight; pid=$(daemon)
        umount at 2>/dev/null || echo busy
        umount -l at && ! is_mounted && cat <&7 && [ -e /proc/$pid ] && exec 7<&- && is_gone $pid && echo " ended"
    )sh"),
          "busy\nabcd ended\n");
}

TEST_CASE("with drop_privileges, mount.fuse mounts, and the daemon needs no right to") {
    if (const std::string why = cannot_run_mount(); !why.empty()) SKIP_TEST(why);
    check(Installed().run_script(R"sh(
        mount -t fuse.tensorfs model at -o drop_privileges && cat at/a/weight && echo
        pid=$(daemon); awk '/^Cap(Prm|Eff|Bnd)/ { print $2 }' /proc/$pid/status
        umount at && is_gone $pid && echo ended
    )sh"),
          "abcd\n0000000000000000\n0000000000000000\n0000000000000000\nended\n");
}

TEST_CASE("mount -a, twice, mounts a folder of the Hub's cache once, and a Hub id likewise") {
    if (const std::string why = cannot_run_mount(); !why.empty()) SKIP_TEST(why);
    check(Installed().run_script(R"sh(
        mkdir -p hub/models--o--m/snapshots/abc hub/models--o--m/refs hub/models--o--m/blobs
        printf abc >hub/models--o--m/refs/main && cp model/m.safetensors hub/models--o--m/snapshots/abc/
        export HF_HUB_CACHE="$PWD/hub"
        for source in "$PWD/hub/models--o--m" o/m; do
            echo "$source $PWD/at fuse.tensorfs ro 0 0" >hub.fstab
            mount --fstab hub.fstab -a; echo $?
            mount --fstab hub.fstab -a; echo $?
            [ "$(findmnt -n -o SOURCE at)" = "$source" ] && cat at/a/weight && grep -c " $PWD/at " /proc/self/mountinfo
            umount at
        done
    )sh"),
          "0\n0\nabcd1\n0\n0\nabcd1\n");
}

TEST_CASE("a mount point /dev/fd/N is a device that somebody else has mounted, and unmounts") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0) SKIP_TEST("this is not root");
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"a.weight", "U8", {4}, "abcd"}}));
    const MountPoint at;
    const int device = ::open("/dev/fuse", O_RDWR);  // the program inherits it
    REQUIRE(device >= 0);
    const std::string number = std::to_string(device);
    const std::string options = "fd=" + number + ",rootmode=40000,user_id=0,group_id=0";
    REQUIRE(::mount("model", at.path().c_str(), "fuse.tensorfs", MS_RDONLY | MS_NOSUID | MS_NODEV, options.c_str()) ==
            0);
    // In a container without the right to mount.
    Child daemon({"setpriv", "--bounding-set=-all", "--no-new-privs", program(), "-f", folder.path().string(),
                  "/dev/fd/" + number});
    ::close(device);
    CHECK(read_file(at / "a/weight") == "abcd");
    daemon.signal(SIGHUP);
    CHECK(read_file(at / "a/weight") == "abcd");
    REQUIRE(::umount2(at.path().c_str(), 0) == 0);
    CHECK(daemon.wait().code == 0);

    const Result wrong = run({program(), folder.path().string(), "/dev/fd/999"});
    CHECK(wrong.code == 8);
    CHECK(wrong.err.find("cannot mount on /dev/fd/999") != std::string::npos);
    CHECK(run({program(), folder.path().string(), "/dev/fd/999", "-o", "idle=9"}).code == 2);  // it could not unmount
}

TEST_CASE("a mount that ends while it is being made is a failure, with exit code 8") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0) SKIP_TEST("this is not root");
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"a.weight", "U8", {4}, "abcd"}}));
    for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"-f"}}) {
        const MountPoint at;
        const int device = ::open("/dev/fuse", O_RDWR);
        REQUIRE(device >= 0);
        const std::string number = std::to_string(device);
        const std::string data = "fd=" + number + ",rootmode=40000,user_id=0,group_id=0";
        REQUIRE(::mount("model", at.path().c_str(), "fuse.tensorfs", MS_RDONLY, data.c_str()) == 0);
        // The kernel's first request is on its way; nobody will have answered it.
        REQUIRE(::umount2(at.path().c_str(), MNT_DETACH) == 0);
        std::vector<std::string> command{program(), folder.path().string(), "/dev/fd/" + number};
        command.insert(command.end(), options.begin(), options.end());
        const Result result = run(command);
        ::close(device);
        CHECK(result.code == 8);
        CHECK(result.err.find("ended while it was being made") != std::string::npos);
    }
}
