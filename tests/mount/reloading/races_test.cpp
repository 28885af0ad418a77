// Another model takes a mounted one's place while the mount is used, listed or ended.

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "tests/mount/reloading/versions.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

TEST_CASE("a listing of the root that was begun before goes on with the old names, each once") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string source = folder / "model.safetensors";
    const auto write = [&](const std::string& prefix) {
        std::vector<Sample> samples;
        for (int i = 0; i < 3000; ++i) samples.push_back({prefix + std::to_string(i), "U8", {1}, "x"});
        write_file(source + ".new", safetensors_file(samples));
        std::filesystem::rename(source + ".new", source);
    };
    write("old");
    Mounted mount(source);
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(mount.path().c_str()), ::closedir);
    REQUIRE(listing);
    std::vector<std::string> names;
    for (int i = 0; i < 100; ++i) names.emplace_back(::readdir(listing.get())->d_name);
    const auto held = open_file(mount / "old7");
    write("new");
    reload(mount);
    while (const dirent* entry = ::readdir(listing.get())) names.emplace_back(entry->d_name);
    std::sort(names.begin(), names.end());
    CHECK(std::unique(names.begin(), names.end()) == names.end());
    CHECK(names.size() == 3002);
    CHECK(std::count_if(names.begin(), names.end(), [](const auto& name) { return name.starts_with("old"); }) == 3000);
    // And what that brought is not taken for what there is now.
    const std::vector<std::string> now = names_in(mount.path());
    CHECK(now.size() == 3000);
    CHECK(std::all_of(now.begin(), now.end(), [](const auto& name) { return name.starts_with("new"); }));
    CHECK(std::none_of(names.begin(), names.end(), [&](const auto& name) {
        return name.starts_with("old") && std::filesystem::exists(mount / name);
    }));
}

TEST_CASE("readers never see two models in one file, however often the model changes under them") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Versions versions;
    Mounted mount(versions.source());
    std::atomic<bool> stop{false};
    std::atomic<int> mixed{0};
    std::atomic<int> failed{0};
    std::atomic<int> reads{0};
    std::vector<std::thread> readers;
    for (const char* path : {"model/weight", ".tensorfs/flat/model.weight", "common"}) {
        readers.emplace_back([&, path] {
            while (!stop) {
                const tensorfs::Descriptor file(::open((mount / path).c_str(), O_RDONLY | O_CLOEXEC));
                const std::string bytes = file ? read_all(file) : "cannot be opened";
                if (bytes.starts_with("cannot"))
                    ++failed;
                else if (bytes.empty() || bytes.find_first_not_of(bytes[0]) != std::string::npos)
                    ++mixed;
                ++reads;
            }
        });
    }
    readers.emplace_back([&] {
        while (!stop) {
            if (names_in(mount.path()).size() != 3) ++mixed;
        }
    });
    for (int i = 0; i < 40; ++i) {
        versions.choose("231"[i % 3]);
        mount.daemon().signal(SIGHUP);
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
    }
    const int enough = reads + 10;
    CHECK(eventually([&] { return reads > enough; }));
    stop = true;
    for (std::thread& reader : readers) reader.join();
    CHECK(mixed == 0);
    CHECK(failed == 0);
    versions.choose('3');
    CHECK(eventually([&] {  // those signals may not all have been obeyed yet
        mount.daemon().signal(SIGHUP);
        return std::filesystem::exists(mount / "only3");
    }));
    CHECK(eventually([&] { return models_held(mount) == 1; }));
    CHECK(mount.daemon().errors().empty());
}

TEST_CASE("SIGTERM ends a mount during a reload, while names are looked up in it") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0) SKIP_TEST("this is not root");
    const TemporaryFolder folder;
    for (const char version : {'1', '2'}) {
        std::vector<Sample> samples;
        for (int i = 0; i < 3000; ++i) samples.push_back({std::string(1, version) + std::to_string(i), "U8", {1}, "x"});
        write_file(folder / (std::string("v") + version), safetensors_file(samples));
    }
    for (int i = 0; i < 5; ++i) {
        const std::string source = folder / "model.safetensors";
        std::filesystem::copy_file(folder / "v1", source, std::filesystem::copy_options::overwrite_existing);
        const MountPoint at;
        const MountPoint also_at;  // from where what hangs can be ended
        Child daemon({program(), "-f", "-o", "log=warning", source, at.path()});
        REQUIRE(eventually([&] { return std::filesystem::exists(at / "10"); }));
        REQUIRE(::mount(at.path().c_str(), also_at.path().c_str(), nullptr, MS_BIND, nullptr) == 0);
        std::vector<std::unique_ptr<Child>> lookers;
        for (const char* const name : {"a", "b", "c"}) {
            lookers.push_back(std::make_unique<Child>(std::vector<std::string>{
                "sh", "-c", "i=0; while test -d \"$0\"; do i=$((i + 1)); test -e \"$0/$1$i\"; done", at.path(), name}));
        }
        std::filesystem::rename(folder / "v2", source + ".new");
        std::filesystem::copy_file(source + ".new", folder / "v2");
        std::filesystem::rename(source + ".new", source);
        daemon.signal(SIGHUP);
        std::this_thread::sleep_for(std::chrono::milliseconds(10 + 10 * i));  // wherever that meets it
        daemon.signal(SIGTERM);
        const bool ends = eventually([&] { return daemon.ended(); }, std::chrono::seconds(10));
        ::umount2(also_at.path().c_str(), MNT_FORCE | MNT_DETACH);
        REQUIRE(ends);
        CHECK(daemon.wait().code == 0);
        CHECK(daemon.errors().empty());
    }
}

TEST_CASE("a name that was looked for in vain is seen in the model that has it, however many came between") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Versions versions;
    Mounted mount(versions.source());
    CHECK_FALSE(std::filesystem::exists(mount / "only3"));
    versions.choose('2');
    reload(mount);
    versions.choose('1');
    reload(mount);
    versions.choose('3');
    reload(mount);
    CHECK(std::filesystem::exists(mount / "only3"));
}

TEST_CASE("a large root is reloaded while many list it") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const auto write = [&](const std::string& text) {
        std::vector<Sample> tensors;
        for (int i = 0; i < 20'000; ++i) tensors.push_back({"t" + std::to_string(i), "U8", {text.size()}, text});
        write_file(folder / "next", safetensors_file(tensors));
        std::filesystem::rename(folder / "next", folder / "model.safetensors");
    };
    write("old");
    Mounted mount(folder / "model.safetensors");
    std::atomic<bool> stop{false};
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back([&] {
            while (!stop) names_in(mount.path());
        });
    }
    CHECK(read_file(mount / "t0") == "old");
    write("newer");
    const auto start = std::chrono::steady_clock::now();
    reload(mount);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
    stop = true;
    for (std::thread& reader : readers) reader.join();
    for (int i = 0; i < 20'000; i += 99) CHECK(std::filesystem::file_size(mount / ("t" + std::to_string(i))) == 5);
}

TEST_CASE("SIGTERM ends a mount while the kernel is told of another model, and who is looking something up") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const auto write = [&](const std::string& version) {
        std::vector<Sample> tensors;
        for (int i = 0; i < 3000; ++i) tensors.push_back({version + std::to_string(i), "U8", {1}, "x"});
        write_file(folder / "next", safetensors_file(tensors));
        std::filesystem::rename(folder / "next", folder / "model.safetensors");
    };
    for (int round = 0; round < 3; ++round) {
        write("old");
        const MountPoint at;
        Child daemon({program(), "-f", "-o", "log=warning,threads=2", folder / "model.safetensors", at.path()});
        REQUIRE(eventually([&] { return std::filesystem::exists(at / "old0"); }));
        std::vector<std::unique_ptr<Child>> seekers;
        for (const char* name : {"a", "b", "c"}) {
            seekers.push_back(std::make_unique<Child>(std::vector<std::string>{
                "sh", "-c", R"(i=0; while :; do i=$((i + 1)); test -e "$0/$1$i"; done)", at.path(), name}));
        }
        write("new");
        daemon.signal(SIGHUP);
        std::this_thread::sleep_for(std::chrono::milliseconds(30 + 40 * round));
        daemon.signal(SIGTERM);
        CHECK(eventually([&] { return daemon.ended(); }, std::chrono::seconds(8)));
        seekers.clear();
        CHECK(daemon.wait().code == 0);
        CHECK_FALSE(at.is_mounted());
    }
}
