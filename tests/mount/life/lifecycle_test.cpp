// From the command to the end of its daemon.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

constexpr std::size_t big_size = 3'000'001;

/// A model of two tensors: `a.weight`, which is "abcd", and `big`.
class SmallModel {
public:
    SmallModel() {
        write_file(path(), safetensors_file({{"a.weight", "U8", {4}, "abcd"},  //
                                             {"big", "U8", {big_size}, sample_bytes(big_size, 1)}}));
    }
    [[nodiscard]] std::string path() const { return folder_ / "model.safetensors"; }

private:
    TemporaryFolder folder_;
};

tensorfs::Descriptor open_file(const std::string& path, int flags = 0) {
    tensorfs::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
    REQUIRE(file);
    return file;
}

std::string link_target(const std::string& path) { return std::filesystem::read_symlink(path).string(); }

}  // namespace

TEST_CASE("the daemon holds no lock and no pipe of whoever started it") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const SmallModel model;
    const TemporaryFolder folder;
    const Adopter adopter;
    const MountPoint at;
    const std::string lock = folder / "lock";

    REQUIRE(run({"flock", lock, program(), model.path(), at.path()}).code == 0);
    CHECK(read_file(at / "a/weight") == "abcd");
    CHECK(run({"flock", "--nonblock", lock, "true"}).code == 0);
    CHECK(unmount(at.path()));

    // `cat` ends when nobody holds the pipe any more. Standard output is another one.
    const Result piped = run_shell("{ \"$0\" \"$1\" \"$2\" 3>&1 >/dev/null 2>&1; echo $?; } | timeout 20 cat",
                                   {program(), model.path(), at.path()});
    CHECK(piped.code == 0);
    CHECK(piped.out == "0\n");
    CHECK(at.is_mounted());
    CHECK(unmount(at.path()));
}

TEST_CASE("the command returns when the mount answers, and a daemon of its own goes on") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const SmallModel model;
    const Adopter adopter;
    const MountPoint at;
    const Result result = run({program(), model.path(), at.path()});
    CHECK(result.code == 0);
    CHECK(result.out.empty());
    CHECK(result.err.empty());
    CHECK(read_file(at / "a/weight") == "abcd");

    REQUIRE(Adopter::children().size() == 1);
    const pid_t daemon = Adopter::children().front();
    const std::string process = "/proc/" + std::to_string(daemon);
    CHECK(::getsid(daemon) == daemon);
    CHECK(link_target(process + "/cwd") == "/");
    for (const char* stream : {"/fd/0", "/fd/1", "/fd/2"}) CHECK(link_target(process + stream) == "/dev/null");

    CHECK(unmount(at.path()));
    CHECK(Adopter::wait(daemon) == 0);
    CHECK_FALSE(at.is_mounted());
    CHECK(Adopter::children().empty());
}

TEST_CASE("who reads the command's output is not kept waiting by its daemon") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const SmallModel model;
    const Adopter adopter;
    const MountPoint at;
    const Result result = run_shell("out=$($0 $1 $2 2>&1); echo $?:$out", {program(), model.path(), at.path()});
    CHECK(result.out == "0:\n");
    CHECK(at.is_mounted());
}

TEST_CASE("source and mount point may be relative") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const SmallModel model;
    const Adopter adopter;
    const MountPoint at;
    const std::filesystem::path folder = std::filesystem::path(at.path()).parent_path();
    const std::string source = std::filesystem::relative(model.path(), folder).string();
    const std::string name = std::filesystem::path(at.path()).filename().string();
    CHECK(run({program(), source, name}, folder.string()).code == 0);
    REQUIRE(at.is_mounted());
    CHECK(read_file(at / "a/weight") == "abcd");
    CHECK(find_mount(at.path())->source == std::filesystem::canonical(model.path()));
    const std::string shard = get_xattr(at / "a/weight", "user.tensor.shard").value();
    CHECK(shard.starts_with("/"));
    CHECK(std::filesystem::equivalent(shard, model.path()));
    CHECK(get_xattr(at.path(), "user.model.source") == std::filesystem::canonical(model.path()));
}

TEST_CASE("SIGTERM and SIGINT unmount, and the exit code is 0") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const SmallModel model;
    for (const int signal : {SIGTERM, SIGINT}) {
        Mounted mount(model.path());
        CHECK(read_file(mount / "a/weight") == "abcd");
        mount.daemon().signal(signal);
        const Result result = mount.daemon().wait();
        CHECK(result.code == 0);
        CHECK(result.out.empty());
        CHECK(result.err.empty());
        CHECK_FALSE(mount.is_mounted());
    }
}

TEST_CASE("a signal unmounts even with a file open, which then cannot be read any more") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const SmallModel model;
    for (const int signal : {SIGTERM, SIGINT}) {
        Mounted mount(model.path());
        const auto file = open_file(mount / "big");
        const auto folder = open_file(mount / "a", O_DIRECTORY);
        mount.daemon().signal(signal);
        CHECK(mount.daemon().wait().code == 0);
        CHECK_FALSE(mount.is_mounted());
        char byte = 0;
        CHECK(::pread(file.get(), &byte, 1, 0) == -1);
        CHECK(::faccessat(folder.get(), "weight", R_OK, 0) == -1);
    }
}

TEST_CASE("a signal unmounts even while a file is being read") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const SmallModel model;
    for (const int signal : {SIGTERM, SIGINT}) {
        Mounted mount(model.path());
        const auto file = open_file(mount / "big", O_DIRECT);  // each read is a request
        std::atomic<int> reads{0};
        std::vector<std::thread> readers;
        for (int i = 0; i < 4; ++i) {
            readers.emplace_back([&] {
                std::string bytes(big_size, '\0');
                while (::pread(file.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(big_size)) ++reads;
            });
        }
        const bool reading = eventually([&] { return reads > 20; });
        mount.daemon().signal(signal);
        const int code = mount.daemon().wait().code;
        for (std::thread& reader : readers) reader.join();
        CHECK(reading);
        CHECK(code == 0);
        CHECK_FALSE(mount.is_mounted());
    }
}

TEST_CASE("a signal unmounts even with a file mapped, and the pages that were seen stay") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const SmallModel model;
    Mounted mount(model.path());
    const auto file = open_file(mount / "a/weight");
    void* const map = ::mmap(nullptr, 4, PROT_READ, MAP_SHARED | MAP_POPULATE, file.get(), 0);
    REQUIRE(map != MAP_FAILED);
    mount.daemon().signal(SIGTERM);
    CHECK(mount.daemon().wait().code == 0);
    CHECK_FALSE(mount.is_mounted());
    CHECK(std::string_view(static_cast<const char*>(map), 4) == "abcd");
    ::munmap(map, 4);
}

TEST_CASE("fusermount3 -u ends the daemon with exit code 0, but not with a file open") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const SmallModel model;
    Mounted mount(model.path());
    {
        const auto file = open_file(mount / "a/weight");
        CHECK(run({"fusermount3", "-u", mount.path()}).code != 0);
        CHECK(mount.is_mounted());
        CHECK(read_file(mount / "a/weight") == "abcd");
    }
    CHECK(unmount(mount.path()));
    CHECK(mount.daemon().wait().code == 0);
    CHECK_FALSE(mount.is_mounted());
}

TEST_CASE("fusermount3 -u -z lets go of the folder at once, and of open files when they are closed") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const SmallModel model;
    Mounted mount(model.path());
    {
        const auto file = open_file(mount / "big");
        CHECK(run({"fusermount3", "-u", "-z", mount.path()}).code == 0);
        CHECK_FALSE(mount.is_mounted());
        CHECK_FALSE(mount.daemon().ended());
        std::string bytes(big_size, '\0');
        CHECK(::pread(file.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(big_size));
        CHECK((bytes == sample_bytes(big_size, 1)));
    }
    CHECK(mount.daemon().wait().code == 0);
}

TEST_CASE("what a killed daemon leaves behind is cleared by who mounts there again, who says so") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const SmallModel model;
    const Adopter adopter;
    Mounted mount(model.path());
    mount.daemon().signal(SIGKILL);
    CHECK(mount.daemon().wait().code == -SIGKILL);
    REQUIRE(mount.is_mounted());
    const Result result = run({program(), model.path(), mount.path()});
    CHECK(result.code == 0);
    CHECK(result.err.find("cleared a mount whose daemon was gone") != std::string::npos);
    CHECK(std::filesystem::exists(mount.path() + "/.tensorfs/tensors.json"));

    const Result again = run({program(), model.path(), mount.path()});
    CHECK(again.code == 6);
    CHECK(again.err.find("a model is mounted there already") != std::string::npos);
    CHECK(unmount(mount.path()));
    CHECK_FALSE(mount.is_mounted());
}

TEST_CASE("a mount works whichever standard streams were closed when it was started") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    for (int i = 0; i < 4; ++i) {
        write_file(folder / (std::to_string(i) + ".safetensors"),
                   safetensors_file({{"t" + std::to_string(i), "U8", {5}, "bytes"}}));
    }
    for (const std::string closed : {"<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
        INFO(closed);
        const MountPoint at;
        CHECK(run_shell("timeout 30 \"$0\" \"$1\" \"$2\" " + closed, {program(), folder.path().string(), at.path()})
                  .code == 0);
        for (int i = 0; i < 4; ++i) CHECK(read_file(at / ("t" + std::to_string(i))) == "bytes");
        CHECK(unmount(at.path()));
    }
}

TEST_CASE("what was mounted over a model stays when the model goes") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0) SKIP_TEST("this is not root");
    const SmallModel model;
    Mounted at(model.path());
    REQUIRE(::mount("above", at.path().c_str(), "tmpfs", 0, nullptr) == 0);
    at.daemon().signal(SIGTERM);
    const Result result = at.daemon().wait();
    CHECK(result.code == 0);
    CHECK(result.err.find("another filesystem was mounted over it and stays") != std::string::npos);
    REQUIRE(at.is_mounted());
    CHECK(find_mount(at.path())->type == "tmpfs");
    CHECK(::umount2(at.path().c_str(), 0) == 0);
    // And the dead mount beneath is cleared as any other.
    Child next({program(), "-f", "-o", "log=error", model.path(), at.path()});
    // Names of the dead one may still be cached; this never is.
    CHECK(eventually([&] { return get_xattr(at.path(), "user.tensorfs.stats").has_value(); }));
    next.signal(SIGTERM);
    CHECK(next.wait().code == 0);
    CHECK_FALSE(at.is_mounted());
}

TEST_CASE("mounting over files says that they are hidden") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const SmallModel model;
    const MountPoint at;
    write_file(at / "precious", "x");
    const Adopter adopter;
    const Result result = run({program(), model.path(), at.path()});
    CHECK(result.code == 0);
    CHECK(result.err.find("not empty; what is in it is hidden") != std::string::npos);
    CHECK(unmount(at.path()));
    CHECK(read_file(at / "precious") == "x");
}

TEST_CASE("a mount that was bound onto itself goes as a whole") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0) SKIP_TEST("this is not root");
    const SmallModel model;
    Mounted at(model.path());
    REQUIRE(::mount(at.path().c_str(), at.path().c_str(), nullptr, MS_BIND, nullptr) == 0);
    at.daemon().signal(SIGTERM);
    CHECK(at.daemon().wait().code == 0);
    CHECK_FALSE(at.is_mounted());
}
