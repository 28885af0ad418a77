// What stays in memory, by -o cache=, and what the daemon keeps for itself.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"
#include "tests/support/residency.hpp"

using namespace tensorfs::tests;

namespace {

constexpr std::size_t tensor_size = 40 << 20;
constexpr std::size_t nearly_all = tensor_size * 9 / 10;  // the kernel may drop some pages at any time

/// A model of one tensor, "big", that is on the disk and in no cache.
std::string write_model(const TemporaryFolder& folder) {
    const std::string path = folder / "model.safetensors";
    write_file(path, safetensors_file({{"big", "U8", {tensor_size}, sample_bytes(tensor_size, 1)}}));
    drop_from_cache(path);
    return path;
}

/// A number of KiB in a file such as /proc/PID/status.
std::uint64_t kib(const std::string& file, const std::string& name) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string key;
        std::uint64_t value = 0;
        if (words >> key >> value && key == name + ":") return value;
    }
    throw std::runtime_error("no " + name + " in " + file);
}

}  // namespace

TEST_CASE("with cache=keep, what was read stays in the shard's pages and in the mount's") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string shard = write_model(folder);
    const Mounted mount(shard, {"-o", "cache=keep"});
    CHECK((read_file(mount / "big") == sample_bytes(tensor_size, 1)));
    CHECK(resident_bytes(shard) >= nearly_all);
    CHECK(resident_bytes(mount / "big") >= nearly_all);
}

TEST_CASE("with cache=once, what was read stays in the mount's pages only") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string shard = write_model(folder);
    if (resident_bytes(shard) != 0) SKIP_TEST("this filesystem keeps all files in memory");
    const Mounted mount(shard, {"-o", "cache=once"});
    CHECK((read_file(mount / "big") == sample_bytes(tensor_size, 1)));
    CHECK(resident_bytes(mount / "big") >= nearly_all);
    CHECK(resident_bytes(shard) <= 24 << 20);  // the last windows: no more however large the tensor is
    CHECK(is_read_from_cache(mount, mount / "big"));
    CHECK((read_file(mount / "big") == sample_bytes(tensor_size, 1)));
}

TEST_CASE("with cache=direct, nothing stays, and each read is answered anew") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string shard = write_model(folder);
    if (resident_bytes(shard) != 0) SKIP_TEST("this filesystem keeps all files in memory");
    const Mounted mount(shard, {"-o", "cache=direct"});
    CHECK((read_file(mount / "big") == sample_bytes(tensor_size, 1)));
    CHECK_FALSE(is_read_from_cache(mount, mount / "big"));
    CHECK((read_file(mount / "big") == sample_bytes(tensor_size, 1)));
    CHECK(resident_bytes(shard) <= 24 << 20);
}

TEST_CASE("with cache=direct, a file is mapped privately, and shared or refused at once") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder), {"-o", "cache=direct"});
    const tensorfs::Descriptor file(::open((mount / "big").c_str(), O_RDONLY | O_CLOEXEC));
    const std::string expected = sample_bytes(tensor_size, 1);
    for (const int sharing : {MAP_PRIVATE, MAP_SHARED}) {
        void* const memory = ::mmap(nullptr, tensor_size, PROT_READ, sharing, file.get(), 0);
        if (sharing == MAP_SHARED && memory == MAP_FAILED) {  // before libfuse 3.17
            CHECK(errno == ENODEV);
            continue;
        }
        REQUIRE(memory != MAP_FAILED);
        CHECK((std::string_view(static_cast<const char*>(memory), tensor_size) == expected));
        ::munmap(memory, tensor_size);
    }
}

TEST_CASE("the daemon stays small however much is read through it") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    make_model({"bytes", "--size", "192M", "--big", "96M", "--shards", "2"}, folder / "m");
    Mounted mount(folder / "m");
    const std::string process = "/proc/" + std::to_string(mount.daemon().pid());
    const std::uint64_t before = kib(process + "/status", "VmRSS");
    std::ofstream(process + "/clear_refs") << 5 << std::flush;  // the high-water mark begins anew
    REQUIRE(run_shell("find \"$0\" -type f -exec cat {} + | sha256sum", {mount.path()}).code == 0);
    CHECK(kib(process + "/status", "VmHWM") <= before + (32 << 10));
}

TEST_CASE("a mount by root reads ahead in larger steps than the kernel does by itself") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder));
    const std::string device = run({"mountpoint", "-d", mount.path()}).out;
    const std::string setting = "/sys/class/bdi/" + device.substr(0, device.find('\n')) + "/read_ahead_kb";
    if (::access(setting.c_str(), W_OK) != 0) SKIP_TEST(setting + " cannot be written");
    CHECK(read_file(setting) == "512\n");
}

TEST_CASE("a mount without the measures that make it fast serves the same") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder), {"-o", "baseline"});
    CHECK(names_in(mount.path()) == std::vector<std::string>{"big"});
    CHECK((read_file(mount / "big") == sample_bytes(tensor_size, 1)));
}
