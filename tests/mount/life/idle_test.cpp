// -o idle=SECONDS: a mount that nobody uses goes by itself.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"
#include "tests/support/ordinary_user.hpp"

using namespace tensorfs::tests;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

std::string write_model(const TemporaryFolder& folder) {
    const std::string path = folder / "model.safetensors";
    write_file(path, safetensors_file({{"a.weight", "U8", {4}, "abcd"}}));
    return path;
}

/// Whether a mount with idle=2 is still there after that time and more, in which `use` is called again and again.
bool is_kept_by(const Mounted& mount, const std::function<void()>& use) {
    for (const auto end = Clock::now() + 3200ms; Clock::now() < end;) {
        if (!mount.is_mounted()) return false;
        use();
        std::this_thread::sleep_for(100ms);
    }
    return mount.is_mounted();
}

}  // namespace

TEST_CASE("a mount goes when nobody has used it for so long, and not before") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    Mounted mount(write_model(folder), {"-o", "idle=1,log=info"});
    CHECK(read_file(mount / "a/weight") == "abcd");
    const auto last_use = Clock::now();
    REQUIRE(eventually([&] { return !mount.is_mounted(); }));
    CHECK(Clock::now() - last_use >= 900ms);
    const Result result = mount.daemon().wait();
    CHECK(result.code == 0);
    CHECK(result.err.find("unmounted, since nobody used it for 1 second\n") != std::string::npos);
}

TEST_CASE("opening what is cached is a use, and so is listing") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string model = write_model(folder);
    for (const char* const cache : {"keep", "direct"}) {
        Mounted mount(model, {"-o", std::string("idle=2,cache=") + cache});
        CHECK(is_kept_by(mount, [&] { read_file(mount / "a/weight"); }));
        CHECK(is_kept_by(mount, [&] { names_in(mount / "a"); }));
        CHECK(eventually([&] { return !mount.is_mounted(); }));
    }
}

TEST_CASE("what is open, mapped or a working folder keeps the mount, and it goes after that") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    Mounted mount(write_model(folder), {"-o", "idle=2"});
    tensorfs::Descriptor file(::open((mount / "a/weight").c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(file);
    CHECK(is_kept_by(mount, [] {}));
    void* const mapped = ::mmap(nullptr, 4, PROT_READ, MAP_SHARED, file.get(), 0);
    REQUIRE(mapped != MAP_FAILED);
    file.reset();
    CHECK(is_kept_by(mount, [] {}));
    tensorfs::Descriptor opened(::open((mount / "a").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ::munmap(mapped, 4);
    CHECK(is_kept_by(mount, [] {}));
    {
        Child sleeper({"sleep", "1000"}, mount / "a");
        REQUIRE(eventually([&] {
            std::error_code ignored;
            return std::filesystem::read_symlink("/proc/" + std::to_string(sleeper.pid()) + "/cwd", ignored) ==
                   mount / "a";
        }));
        opened.reset();
        CHECK(is_kept_by(mount, [] {}));
    }
    CHECK(eventually([&] { return !mount.is_mounted(); }));
    CHECK(mount.daemon().wait().code == 0);
}

TEST_CASE("watching a mount does not keep it") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    Mounted mount(write_model(folder), {"-o", "idle=1"});
    const auto deadline = Clock::now() + patience;
    while (mount.is_mounted() && Clock::now() < deadline) {
        struct statvfs ignored {};
        ::statvfs(mount.path().c_str(), &ignored);
        run({program(), "info", mount.path()});  // whether it is there still, or just gone
        std::this_thread::sleep_for(50ms);
    }
    CHECK_FALSE(mount.is_mounted());
}

TEST_CASE("a mount that has another on it stays, and without idle= a mount stays") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string model = write_model(folder);
    const Mounted unlimited(model);
    const Mounted mount(model, {"-o", "idle=2"});
    const Child above({program(), "-f", model, mount / "a"});
    REQUIRE(eventually([&] { return find_mount(mount / "a").has_value(); }));
    CHECK(is_kept_by(mount, [] {}));
    CHECK(unlimited.is_mounted());
    CHECK(unmount(mount / "a"));
}

TEST_CASE("an ordinary user's mount goes, too, and not while it is used") {
    if (const std::string why = OrdinaryUser::cannot_mount(); !why.empty()) SKIP_TEST(why);
    const OrdinaryUser user;
    const Result result = user.run_script(R"sh(
        trap 'fusermount3 -q -u -z at' EXIT
        is_mounted() { grep -q " $PWD/at " /proc/self/mountinfo; }
        ./tensorfs -f -o idle=2,log=warning,fsname=none 'my, model' at &
        until is_mounted; do sleep 0.01; done
        exec 7<at/a/weight
        sleep 3.2
        is_mounted && echo kept
        exec 7<&-
        wait $! && echo ended
        is_mounted || echo gone
    )sh");
    INFO(result.err);
    CHECK(result.out == "kept\nended\ngone\n");
    CHECK(result.err.empty());
}
