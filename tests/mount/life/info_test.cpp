// What a mount tells of itself: `tensorfs info MOUNTPOINT`, and the root's user.tensorfs.stats.

#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

using Json = nlohmann::json;

std::string write_model(const TemporaryFolder& folder) {
    const std::string path = folder / "model.safetensors";
    write_file(path, safetensors_file({{"small", "U8", {4}, "abcd"},
                                       {"big.weight", "U8", {300'000}, sample_bytes(300'000, 1)},
                                       {"never", "U8", {1}, "x"}}));
    return path;
}

Json stats_of(const std::string& mountpoint) {
    return Json::parse(get_xattr(mountpoint, "user.tensorfs.stats").value());
}

Result info(const std::vector<std::string>& arguments) {
    std::vector<std::string> command{program(), "info"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run(command);
}

}  // namespace

TEST_CASE("the busiest tensors are those that were read most, by whatever view") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder));
    CHECK(stats_of(mount.path()).at("busiest_tensors").empty());
    read_file(mount / "small");
    read_file(mount / "big/weight");
    read_file(mount / ".tensorfs/npy/big/weight.npy");
    // Counted once it is sent, which is when the reader has it already.
    CHECK(eventually([&] {
        const Json busiest = stats_of(mount.path()).at("busiest_tensors");
        return busiest.size() == 2 && busiest[0].at("name") == "big.weight" && busiest[0].at("bytes") >= 600'000 &&
               busiest[1] == Json{{"name", "small"}, {"requests", 1}, {"bytes", 4}};
    }));
    const Json stats = stats_of(mount.path());
    CHECK(stats.at("bytes_read").at("tensors") == 300'004);
    CHECK(stats.at("bytes_read").at("npy") == 304'096);
    CHECK(stats.at("bytes").at("read") == 604'100);
    CHECK(stats.at("read_latency_us").at("p50") > 0);
    CHECK(stats.at("read_latency_us").at("max") >= stats.at("read_latency_us").at("p50"));
    CHECK(stats.at("memory").at("own") > 100'000);
    CHECK(stats.at("memory").at("peak") >= stats.at("memory").at("own"));
}

TEST_CASE("a tensor's name that is longer than an attribute is shortened in the statistics, which stay JSON") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string path = folder / "model.safetensors";
    std::string name;
    for (int i = 0; i < 50'000; ++i) name += "\u00e9";
    write_file(path, safetensors_file({{name, "U8", {4}, "abcd"}}));
    const Mounted mount(path);
    const std::string file = names_in(mount.path()).at(0);
    read_file(mount / file);
    CHECK(eventually([&] { return !stats_of(mount.path()).at("busiest_tensors").empty(); }));
    const std::string shown = stats_of(mount.path()).at("busiest_tensors")[0].at("name");
    CHECK(shown.size() <= 255);
    CHECK(shown.ends_with("\u00e9…"));
}

TEST_CASE("a shard that gave errors is named, with what was wrong") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string path = write_model(folder);
    const Mounted mount(path);
    CHECK(stats_of(mount.path()).at("faults") == Json{{"shards", 0}, {"first", Json::array()}});
    std::filesystem::resize_file(path, 1000);
    CHECK_THROWS(read_file(mount / "big/weight"));
    const Json stats = stats_of(mount.path());
    CHECK(stats.at("errors") >= 1);
    REQUIRE(stats.at("faults").at("shards") == 1);
    CHECK(stats.at("faults").at("first")[0].at("shard") == path);
    CHECK(stats.at("faults").at("first")[0].at("what") == "it was changed since it was mounted");
    const Result text = info({mount.path()});
    CHECK(text.out.find("1 shard gave errors\n  " + path + ": it was changed since it was mounted\n") !=
          std::string::npos);
}

TEST_CASE("info of a mount point shows what is mounted there and how it is used") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string source = write_model(folder);
    Mounted mount(source);
    CHECK(info({mount.path()}).out.find("read latency") == std::string::npos);
    read_file(mount / "small");
    const Result text = info({mount.path()});
    CHECK(text.out.find("\nread latency  p50 ") != std::string::npos);
    CHECK(text.code == 0);
    CHECK(text.err.empty());
    for (const std::string& line :
         {"mount point " + mount.path() + "\n", "source      " + source + "\n", std::string("tensors     3\n"),
          std::string("bytes       300,005 (300.0 kB)\n"),
          "daemon      process " + std::to_string(mount.daemon().pid()) + ", up for 0 s\n",
          std::string("errors      0\n"), std::string("reloads     0, 0 failed, 1 model held\n")}) {
        INFO(line << text.out);
        CHECK(text.out.find(line) != std::string::npos);
    }
    const Result json = info({"--json", mount.path() + "/"});
    CHECK(json.code == 0);
    const Json all = Json::parse(json.out);
    CHECK(all.at("mountpoint") == mount.path());
    CHECK(all.at("source") == source);
    CHECK(all.at("tensors") == 3);
    CHECK(all.at("nbytes") == 300'005);
    CHECK(all.at("stats").at("requests").at("read") == 1);
}

TEST_CASE("info of a folder or file in a mount is about that as a source") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder));
    const Result merged = info({mount / ".tensorfs/model.safetensors"});
    CHECK(merged.code == 0);
    CHECK(merged.out.starts_with("source "));
    CHECK(info({mount / "big"}).code == 3);
}

TEST_CASE("info of a mount takes no options about a source") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder));
    CHECK(info({mount.path(), "-o", "partial"}).code == 2);
}

TEST_CASE("info of a mount whose daemon was killed says so, and what to do") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    Mounted mount(write_model(folder));
    mount.daemon().signal(SIGKILL);
    CHECK(mount.daemon().wait().code == -SIGKILL);
    const Result dead = info({mount.path()});
    CHECK(dead.code == 6);
    CHECK(dead.err == "tensorfs: " + mount.path() +
                          ": Transport endpoint is not connected (the daemon is gone: mount " +
                          "again, or clear it with `fusermount3 -uz " + mount.path() + "`)\n");
}

TEST_CASE("info says why the last reload failed, and what a partial mount left out") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string bad = folder / "b.safetensors";
    write_file(folder / "a.safetensors", safetensors_file({{"a", "U8", {4}, "abcd"}}));
    write_file(bad, "bad");
    Mounted mount(folder.path().string(), {"-o", "partial"});
    CHECK(info({mount.path()}).out.find("left out    what is bad: 1 problem, see .tensorfs/problems.json\n") !=
          std::string::npos);
    std::filesystem::remove(folder / "a.safetensors");
    mount.daemon().signal(SIGHUP);
    const auto models = [&] { return stats_of(mount.path()).at("models"); };
    REQUIRE(eventually([&] { return models().at("failed_reloads") == 1; }));
    const std::string why_not = "b.safetensors: HeaderTooSmall: ";
    CHECK(models().at("last_failure").get<std::string>().find(why_not) != std::string::npos);
    CHECK(info({mount.path()}).out.find("\n  the last reload failed: " + bad + ": HeaderTooSmall: ") !=
          std::string::npos);
    write_file(bad, safetensors_file({{"b", "U8", {4}, "abcd"}}));
    mount.daemon().signal(SIGHUP);
    REQUIRE(eventually([&] { return models().at("reloads") == 1; }));
    CHECK(models().at("last_failure") == "");
    CHECK(models().at("problems") == 0);
}

TEST_CASE("verbs that are given a mount as a source say that it is one, or that its daemon is gone") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    Mounted mount(write_model(folder));
    const Result live = run({program(), "ls", mount.path()});
    CHECK(live.code == 3);
    CHECK(live.err.find("is in a mount of tensorfs; `tensorfs info MOUNTPOINT` tells of which source") !=
          std::string::npos);
    mount.daemon().signal(SIGKILL);
    mount.daemon().wait();
    const Result dead = run({program(), "ls", mount.path()});
    CHECK(dead.code != 0);  // which one depends on what the kernel has cached
    CHECK(dead.err.find("clear it with `fusermount3 -uz " + mount.path() + "`") != std::string::npos);
}
