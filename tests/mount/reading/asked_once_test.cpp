// The kernel is told that nothing ever changes, and asks only once.

#include <fcntl.h>
#include <sys/stat.h>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

constexpr std::size_t big_size = 3'000'001;

/// Ten tensors t.0 … t.9, and a big one.
std::string write_model(const TemporaryFolder& folder) {
    std::vector<Sample> samples{{"big", "U8", {big_size}, sample_bytes(big_size, 1)}};
    for (int i = 0; i < 10; ++i) samples.push_back({"t." + std::to_string(i), "U8", {1}, "x"});
    write_file(folder / "model.safetensors", safetensors_file(samples));
    return folder / "model.safetensors";
}

/// How often `text` stands in `log`.
int count(const std::string& log, const std::string& text) {
    int times = 0;
    for (std::size_t at = 0; (at = log.find(text, at)) != std::string::npos; at += text.size()) ++times;
    return times;
}

bool exists(const std::string& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0;
}

}  // namespace

TEST_CASE("what was read once is read again without asking the daemon") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder));
    const std::string first = read_file(mount / "big");
    CHECK(mount.requests("read") >= big_size / (1 << 20));
    CHECK(is_read_from_cache(mount, mount / "big"));
    CHECK((read_file(mount / "big") == first));
    CHECK(run({"cat", mount / "big"}).out == first);
}

TEST_CASE("a node is looked up once, and so is a name that is not there") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder));
    const std::vector<std::string> there{"t", "t/1", "big", ".tensorfs/tensors.json", ".tensorfs/flat/t.2"};
    const std::vector<std::string> missing{"none", "t/none", ".tensorfs/none", ".tensorfs/flat/none"};
    const auto look = [&] {
        for (const std::string& name : there) CHECK(exists(mount / name));
        for (const std::string& name : missing) CHECK_FALSE(exists(mount / name));
    };
    look();
    const std::uint64_t lookups = mount.requests("lookup");
    const std::uint64_t attributes = mount.requests("getattr");
    CHECK(lookups >= missing.size());
    for (int i = 0; i < 5; ++i) look();
    CHECK(mount.requests("lookup") == lookups);
    CHECK(mount.requests("getattr") == attributes);
}

TEST_CASE("a listing brings the nodes along, and is asked for once") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder));
    CHECK(names_in(mount / "t").size() == 10);
    const std::uint64_t lookups = mount.requests("lookup");
    const std::uint64_t attributes = mount.requests("getattr");
    for (int i = 0; i < 10; ++i) CHECK(exists(mount / ("t/" + std::to_string(i))));
    CHECK(mount.requests("lookup") == lookups);
    CHECK(mount.requests("getattr") == attributes);

    // The second listing fills the kernel's cache at the latest.
    CHECK(names_in(mount / "t").size() == 10);
    const std::uint64_t listings = mount.requests("readdir");
    CHECK(names_in(mount / "t").size() == 10);
    CHECK(mount.requests("readdir") == listings);
}

TEST_CASE("opening files and folders asks the daemon once at most, however many are opened") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    Mounted mount(write_model(folder), {"-d"});
    for (int i = 0; i < 10; ++i) {
        CHECK(read_file(mount / ("t/" + std::to_string(i))) == "x");
        CHECK(names_in(mount / "t").size() == 10);
        CHECK(names_in(mount.path()).size() == 2);
    }
    const std::string log = mount.daemon().errors();
    CHECK(count(log, "opcode: OPEN (") == 1);
    CHECK(count(log, "opcode: OPENDIR (") == 1);
    CHECK(count(log, "opcode: RELEASE") == 0);
}

TEST_CASE("the statistics are JSON that counts what was asked and what was read") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder));
    CHECK(mount.requests("read") == 0);
    read_file(mount / "t/3");
    CHECK(mount.requests("read") == 1);
    const auto shows = [&](const std::string& text) {
        return get_xattr(mount.path(), "user.tensorfs.stats").value().find(text) != std::string::npos;
    };
    CHECK(eventually([&] { return shows("\"bytes_read\":{\"tensors\":1,"); }));  // counted once they are sent
    CHECK(shows("\"errors\":0"));
    CHECK_FALSE(get_xattr(mount / "t", "user.tensorfs.stats"));
    // Programs ask for the size first: the value must fit it, though the counters move on.
    const Result shown = run({"getfattr", "--only-values", "-n", "user.tensorfs.stats", mount.path()});
    CHECK(shown.code == 0);
    CHECK(shown.out.ends_with("}"));
}
