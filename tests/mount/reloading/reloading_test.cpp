// A mount follows its model: SIGHUP has it look at the source again.

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/mount/reloading/versions.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

TEST_CASE("after SIGHUP all that is opened is the source's new model, and nothing cached of the old one") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{}, {"-o", "cache=once"}, {"-o", "cache=direct"}, {"-o", "idle=1000"}}) {
        const Versions versions;
        Mounted mount(versions.source(), options);
        see_everything(mount, '1');
        for (const char version : {'2', '3', '1'}) {
            versions.choose(version);
            reload(mount);
            see_everything(mount, version);
            see_everything(mount, version);  // from what is cached now
        }
    }
}

TEST_CASE("a source that has become bad leaves the old model, and the log says why") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Versions versions;
    Mounted mount(versions.source());
    const std::string shard = versions.folder('2') + "/model.safetensors";
    std::filesystem::resize_file(shard, 1000);
    versions.choose('2');
    reload(mount, "failed_reloads");
    see_everything(mount, '1');
    const std::string log = mount.daemon().errors();
    INFO(log);
    CHECK(log.find("model.safetensors: MetadataIncompleteBuffer: ") != std::string::npos);
    CHECK(log.find("not reloaded; the mount stays as it was\n") != std::string::npos);

    std::filesystem::remove(versions.source());
    reload(mount, "failed_reloads");
    CHECK(mount.daemon().errors().find("NoSuchSource") != std::string::npos);
    see_everything(mount, '1');

    versions.choose('3');
    reload(mount);
    see_everything(mount, '3');
    CHECK(stats_of(mount).at("models").at("failed_reloads") == 2);
}

TEST_CASE("a source that is as it was leaves all that is cached") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Versions versions;
    Mounted mount(versions.source(), {"-o", "log=info"});
    see_everything(mount, '1');
    struct stat before {};
    REQUIRE(::stat((mount / "common").c_str(), &before) == 0);
    mount.daemon().signal(SIGHUP);
    CHECK(eventually([&] { return mount.daemon().errors().find(": unchanged\n") != std::string::npos; }));
    CHECK(stats_of(mount).at("models").at("reloads") == 0);
    struct stat after {};
    REQUIRE(::stat((mount / "common").c_str(), &after) == 0);
    CHECK(before.st_ino == after.st_ino);
    CHECK(is_read_from_cache(mount, mount / "common"));
}

TEST_CASE("a shard that was overwritten in place is good again after SIGHUP") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Versions versions;
    Mounted mount(versions.source());
    const auto old = open_file(mount / "model/weight");
    write_file(versions.folder('1') + "/model.safetensors", safetensors_file({{"model.weight", "U8", {5}, "other"}}));
    CHECK(read_all(old) == "cannot be read");
    reload(mount);
    CHECK(read_file(mount / "model/weight") == "other");
    CHECK(read_all(old) == "cannot be read");
    CHECK(stats_of(mount).at("faults").at("shards") == 0);
}

TEST_CASE("an index that chooses other shards of the same folder is followed") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string index = folder / "model.safetensors.index.json";
    write_file(folder / "a.safetensors", safetensors_file({{"w", "U8", {1}, "a"}}));
    write_file(folder / "b.safetensors", safetensors_file({{"w", "U8", {1}, "b"}}));
    write_file(index, index_file({{"w", "a.safetensors"}}));
    Mounted mount(folder.path().string());
    CHECK(read_file(mount / "w") == "a");
    write_file(index + ".new", index_file({{"w", "b.safetensors"}}));
    std::filesystem::rename(index + ".new", index);
    reload(mount);
    CHECK(read_file(mount / "w") == "b");
}

TEST_CASE("a relative source is found again, and so is what it leads to by then") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Versions versions;
    const MountPoint at;
    const std::string folder = std::filesystem::path(versions.source()).parent_path().string();
    std::filesystem::create_directory(folder + "/below");
    const std::string pid_file = folder + "/pid";
    for (const auto& [source, from] : {std::pair{"current", folder}, {"../current", folder + "/below"}}) {
        versions.choose('1');
        Child daemon({program(), "-f", "-o", "log=warning", source, at.path()}, from);
        REQUIRE(eventually([&] { return std::filesystem::exists(at / "only1"); }));
        versions.choose('2');
        daemon.signal(SIGHUP);
        CHECK(eventually([&] { return std::filesystem::exists(at / "only2"); }));
        daemon.signal(SIGTERM);
        CHECK(daemon.wait().code == 0);
    }
}

TEST_CASE("a Hub id is looked up anew: its main has moved on") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder cache;
    const std::string repository = cache / "models--org--name";
    write_file(repository + "/refs/main", "aaaa");
    write_file(repository + "/snapshots/aaaa/model.safetensors", safetensors_file({{"w", "U8", {1}, "a"}}));
    write_file(repository + "/snapshots/bbbb/model.safetensors", safetensors_file({{"w", "U8", {1}, "b"}}));
    const MountPoint at;
    Child daemon({"env", "HF_HUB_CACHE=.", program(), "-f", "-o", "log=warning", "org/name", at.path()},
                 cache.path().string());
    REQUIRE(eventually([&] { return std::filesystem::exists(at / "w"); }));
    CHECK(read_file(at / "w") == "a");
    CHECK(find_mount(at.path())->source == "org/name");
    write_file(repository + "/refs/main", "bbbb");
    daemon.signal(SIGHUP);
    CHECK(eventually([&] { return read_file(at / "w") == "b"; }));
    daemon.signal(SIGTERM);
    CHECK(daemon.wait().code == 0);
}

TEST_CASE("root's daemon reloads what only its owner may read") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0) SKIP_TEST("this is not root");
    const Versions versions;
    for (const char version : {'1', '2'}) {
        const std::string shard = versions.folder(version) + "/model.safetensors";
        REQUIRE(::chmod(shard.c_str(), 0400) == 0);
        REQUIRE(::chown(shard.c_str(), 65534, 65534) == 0);
        REQUIRE(::chmod(versions.folder(version).c_str(), 0500) == 0);
        REQUIRE(::chown(versions.folder(version).c_str(), 65534, 65534) == 0);
    }
    Mounted mount(versions.source());
    versions.choose('2');
    reload(mount);
    see_everything(mount, '2');
}

TEST_CASE("where file descriptors are few, the new model is mapped without keeping its shards open") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    for (const char version : {'1', '2'}) {
        for (int i = 0; i < 120; ++i) {
            const std::string name = "t" + std::to_string(i);
            write_file(folder / (std::string("v") + version + "/" + name + ".safetensors"),
                       safetensors_file({{name, "U8", {1}, std::string(1, version)}}));
        }
    }
    const std::string source = folder / "current";
    std::filesystem::create_symlink("v1", source);
    const MountPoint at;
    Child daemon({"prlimit", "--nofile=256:256", program(), "-f", "-o", "log=warning", source, at.path()});
    REQUIRE(eventually([&] { return std::filesystem::exists(at / "t0"); }));
    const auto held = open_file(at / "t7");
    std::filesystem::remove(source);
    std::filesystem::create_symlink("v2", source);
    daemon.signal(SIGHUP);
    CHECK(eventually([&] { return read_file(at / "t0") == "2"; }));
    CHECK(read_file(at / "t119") == "2");
    CHECK(read_all(held) == "1");
    CHECK(daemon.errors().empty());
    daemon.signal(SIGTERM);
    CHECK(daemon.wait().code == 0);
}
