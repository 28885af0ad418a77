// A mount follows its model: SIGHUP has it look at the source again.

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/catch.hpp"
#include "tests/mounted.hpp"
#include "tests/ordinary_user.hpp"

using namespace tensorfs::tests;

namespace {

constexpr std::size_t weight_size = 3'000'000;

/// What a version's tensor holds: the same letter throughout.
std::string weight_of(char version) { return std::string(weight_size, version); }

/// A model that has versions: each has `model.weight` full of its letter, a tensor named after it, and `common`.
/// The source is a link that leads to one of them.
class Versions {
public:
    Versions() {
        for (const char version : {'1', '2', '3'}) {
            write_file(folder(version) + "/model.safetensors",
                       safetensors_file({{"model.weight", "U8", {weight_size}, weight_of(version)},
                                         {std::string("only") + version, "U8", {1}, std::string(1, version)},
                                         {"common", "U8", {1}, std::string(1, version)}},
                                        std::string(R"({"version":")") + version + "\"}"));
        }
        choose('1');
    }
    /// Lets the source be another version, in one step.
    void choose(char version) const {
        std::filesystem::create_symlink(folder(version), source() + ".new");
        std::filesystem::rename(source() + ".new", source());
    }
    [[nodiscard]] std::string folder(char version) const { return folder_ / (std::string("v") + version); }
    [[nodiscard]] std::string source() const { return folder_ / "current"; }

private:
    TemporaryFolder folder_;
};

nlohmann::json stats_of(const Mounted& mount) {
    return nlohmann::json::parse(get_xattr(mount.path(), "user.tensorfs.stats").value());
}
int models_held(const Mounted& mount) { return stats_of(mount).at("models").at("held"); }

/// Sends SIGHUP and waits until the source was looked at.
void reload(Mounted& mount, const std::string& outcome = "reloads") {
    const int before = stats_of(mount).at("models").at(outcome);
    mount.daemon().signal(SIGHUP);
    REQUIRE(eventually([&] { return stats_of(mount).at("models").at(outcome) == before + 1; }));
}

tensorfs::Descriptor open_file(const std::string& path, int flags = 0) {
    tensorfs::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
    REQUIRE(file);
    return file;
}

std::string read_all(const tensorfs::Descriptor& file) {
    std::string bytes(weight_size + 1, '\0');
    std::size_t got = 0;
    while (const ssize_t more = ::pread(file.get(), bytes.data() + got, bytes.size() - got, static_cast<off_t>(got))) {
        if (more < 0) return "cannot be read";
        got += static_cast<std::size_t>(more);
    }
    bytes.resize(got);
    return bytes;
}

/// Sees all there is of a model: the kernel then keeps it.
void see_everything(const Mounted& mount, char version) {
    std::vector<std::string> names{"common", "model", std::string("only") + version};
    CHECK(names_in(mount.path()) == names);
    CHECK(read_file(mount / "model/weight") == weight_of(version));
    CHECK(read_file(mount / "common") == std::string(1, version));
    CHECK(read_file(mount / ".tensorfs/flat/model.weight") == weight_of(version));
    CHECK(read_file(mount / ".tensorfs/npy/common.npy").ends_with(version));
    CHECK(read_file(mount / ".tensorfs/metadata.json").find(std::string("\"") + version + "\"") != std::string::npos);
    CHECK(get_xattr(mount.path(), "user.model.metadata.version") == std::string(1, version));
    CHECK(read_file(mount / (std::string("only") + version)) == std::string(1, version));
    for (const char other : {'1', '2', '3'}) {
        if (other != version) CHECK_FALSE(std::filesystem::exists(mount / (std::string("only") + other)));
    }
}

}  // namespace

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

TEST_CASE("what is open when the model changes stays the old one, to the last byte") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Versions versions;
    Mounted mount(versions.source());
    auto read_before = open_file(mount / "model/weight");
    CHECK(read_all(read_before) == weight_of('1'));
    auto not_read = open_file(mount / "common");
    auto direct = open_file(mount / "model/weight", O_DIRECT);
    auto folder = open_file(mount / "model", O_DIRECTORY);
    auto file = open_file(mount / ".tensorfs/flat/model.weight");
    void* const mapped = ::mmap(nullptr, weight_size, PROT_READ, MAP_SHARED, file.get(), 0);
    REQUIRE(mapped != MAP_FAILED);
    struct stat old_stat {};
    REQUIRE(::fstat(read_before.get(), &old_stat) == 0);

    versions.choose('2');
    reload(mount);
    std::filesystem::remove_all(versions.folder('1'));  // deleted, its bytes are still there for whoever has them open
    CHECK(read_file(mount / "model/weight") == weight_of('2'));
    CHECK(read_all(read_before) == weight_of('1'));
    CHECK(read_all(not_read) == "1");
    std::string block(weight_size / 4096 * 4096, '\0');
    void* aligned = nullptr;
    REQUIRE(::posix_memalign(&aligned, 4096, block.size()) == 0);
    CHECK(::pread(direct.get(), aligned, block.size(), 0) == static_cast<ssize_t>(block.size()));
    CHECK(std::string(static_cast<char*>(aligned), block.size()) == weight_of('1').substr(0, block.size()));
    std::free(aligned);
    CHECK(std::string(static_cast<char*>(mapped), weight_size) == weight_of('1'));
    tensorfs::Descriptor in_folder(::openat(folder.get(), "weight", O_RDONLY | O_CLOEXEC));
    REQUIRE(in_folder);
    CHECK(read_all(in_folder) == weight_of('1'));
    // As where a file was replaced by rename, the new one is another file.
    struct stat new_stat {};
    REQUIRE(::stat((mount / "model/weight").c_str(), &new_stat) == 0);
    CHECK(new_stat.st_ino != old_stat.st_ino);
    CHECK(::fstat(read_before.get(), &new_stat) == 0);
    CHECK(new_stat.st_ino == old_stat.st_ino);
    ::munmap(mapped, weight_size);
    // All of that closed, what was looked up in the old folder meanwhile does not keep the old model.
    for (tensorfs::Descriptor* open : {&read_before, &not_read, &direct, &folder, &file, &in_folder}) open->reset();
    CHECK(eventually([&] { return models_held(mount) == 1; }));
}

TEST_CASE("an old model is held as long as the kernel knows of it, and let go then") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Versions versions;
    Mounted mount(versions.source());
    see_everything(mount, '1');
    versions.choose('2');
    reload(mount);
    CHECK(eventually([&] { return models_held(mount) == 1; }));  // nothing was open
    see_everything(mount, '2');

    auto file = open_file(mount / "model/weight");
    versions.choose('3');
    reload(mount);
    see_everything(mount, '3');
    CHECK(models_held(mount) == 2);
    CHECK(read_all(file) == weight_of('2'));
    file.reset();
    // The kernel forgets a file that nobody has open and that no name leads to.
    CHECK(eventually([&] { return models_held(mount) == 1; }));
    const std::string fds = "/proc/" + std::to_string(mount.daemon().pid()) + "/fd";
    std::vector<std::string> shards;
    for (const std::string& fd : names_in(fds)) {
        const std::string target = std::filesystem::read_symlink(fds + "/" + fd).string();
        if (target.ends_with(".safetensors")) shards.push_back(target);
    }
    CHECK(shards ==
          std::vector<std::string>{std::filesystem::canonical(versions.folder('3')).string() + "/model.safetensors"});
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
    CHECK(log.find("not taken up; the mount stays as it was\n") != std::string::npos);

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
    CHECK(eventually([&] { return mount.daemon().errors().find("it is as it was\n") != std::string::npos; }));
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
    write_file(repository + "/refs/main", "bbbb");
    daemon.signal(SIGHUP);
    CHECK(eventually([&] { return read_file(at / "w") == "b"; }));
    daemon.signal(SIGTERM);
    CHECK(daemon.wait().code == 0);
}

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

TEST_CASE("root's daemon takes up again what only its owner may read") {
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

TEST_CASE("a large root is taken up again while many list it") {
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
