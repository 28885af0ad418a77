// SIGHUP for a foreground mount: from its terminal that is gone, or from somebody else.

#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/mount/reloading/versions.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

TEST_CASE("SIGHUP in the foreground looks at the source again, but ends what has lost its terminal") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Versions versions;
    const MountPoint at;
    // `script` gives it a terminal, which goes when `script` does.
    Adopter adopter;
    Child terminal(
        {"script", "-q", "-c", "exec " + program() + " -f " + versions.source() + " " + at.path(), "/dev/null"});
    REQUIRE(eventually([&] { return std::filesystem::exists(at / "only1"); }));
    terminal.signal(SIGKILL);
    CHECK(eventually([&] { return !at.is_mounted(); }));
}

TEST_CASE("started by nohup, a mount outlives its terminal") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Versions versions;
    const MountPoint at;
    Adopter adopter;
    const std::string daemon = program() + " -f -o log=warning " + versions.source() + " " + at.path();
    Child terminal({"script", "-q", "-c", "exec nohup " + daemon + " >/dev/null 2>&1", "/dev/null"});
    REQUIRE(eventually([&] { return std::filesystem::exists(at / "only1"); }));
    const nlohmann::json stats = nlohmann::json::parse(get_xattr(at.path(), "user.tensorfs.stats").value());
    const pid_t pid = stats.at("pid");
    terminal.signal(SIGKILL);
    terminal.wait();
    versions.choose('2');
    ::kill(pid, SIGHUP);
    CHECK(eventually([&] { return std::filesystem::exists(at / "only2"); }));
    ::kill(pid, SIGTERM);
    CHECK(eventually([&] { return !at.is_mounted(); }));
}
