// A mount over its own source can go on, but never look at that source again.

#include <csignal>

#include "tests/support/catch.hpp"
#include "tests/support/clients.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

TEST_CASE("mounted over its own source, a reload fails and says why") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const MountPoint at;
    const std::string file = at / "model.safetensors";
    write_file(file, safetensors_file({{"w", "U8", {4}, "abcd"}}));
    for (const std::string& source : {at.path(), file}) {
        INFO(source);
        Child daemon({program(), "-f", "-o", "log=error", source, at.path()});
        REQUIRE(eventually([&] { return std::filesystem::exists(at / "w"); }));
        daemon.signal(SIGHUP);
        CHECK(eventually([&] { return count_of("not reloaded", daemon.errors()) == 1; }));
        CHECK(count_of("mounted over its own source", daemon.errors()) == 1);
        CHECK(count_of("mounted over its own source", run({program(), "info", at.path()}).out) == 1);
        CHECK(read_file(at / "w") == "abcd");
        daemon.signal(SIGTERM);
        CHECK(daemon.wait().code == 0);
        CHECK(read_file(file).ends_with("abcd"));
    }
}
