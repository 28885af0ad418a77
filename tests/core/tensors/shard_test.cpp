#include "core/tensors/shard.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace fs = std::filesystem;

namespace {

std::string refusal(const std::string& path) {
    return kinds(problems_of([&] { const Shard shard(path); }));
}

/// Writes a file that was last modified long ago, so that any change to it shows.
void write_old_file(const std::string& path, std::string_view bytes) {
    write_file(path, bytes);
    const timespec times[2] = {{1000000000, 1}, {1000000000, 123456789}};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

std::string bytes_of(const Shard& shard) {
    return {reinterpret_cast<const char*>(shard.bytes().data()), shard.bytes().size()};
}

constexpr std::size_t page = 4096;

/// What Shard::copy() gives; nothing where the bytes are not to be had.
std::optional<std::string> copy_of(const Shard& shard, std::uint64_t offset, std::size_t size = page) {
    std::string into(size, '\0');
    if (!shard.copy(offset, {reinterpret_cast<std::byte*>(into.data()), size})) return std::nullopt;
    return into;
}

}  // namespace

TEST_CASE("a shard knows its path, size and time of modification") {
    const TemporaryFolder folder;
    write_old_file(folder / "s", "0123456789");
    const Shard shard(folder / "s");
    CHECK(shard.path() == folder / "s");
    CHECK(shard.size() == 10);
    CHECK(shard.modified().tv_sec == 1000000000);
    CHECK(shard.modified().tv_nsec == 123456789);
    CHECK(shard.bytes().empty());
}

TEST_CASE("only a regular file is a shard, and nothing else is waited for or read") {
    const TemporaryFolder folder;
    CHECK(refusal(folder / "none") == "MissingShard ");
    CHECK(refusal(folder.path().string()) == "NotRegularFile ");
    CHECK(refusal("/dev/null") == "NotRegularFile ");
    CHECK(refusal("/dev/zero") == "NotRegularFile ");
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    CHECK(refusal(folder / "fifo") == "NotRegularFile ");

    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (folder / "socket").c_str(), sizeof address.sun_path - 1);
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    CHECK(refusal(folder / "socket") == "NotRegularFile ");
}

TEST_CASE("a symbolic link is what it leads to") {
    const TemporaryFolder folder;
    write_file(folder / "s", "abc");
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    fs::create_symlink("s", folder / "to-file");
    fs::create_symlink("fifo", folder / "to-fifo");
    fs::create_symlink("none", folder / "to-nothing");
    fs::create_symlink("loop", folder / "loop");
    CHECK(Shard(folder / "to-file").size() == 3);
    CHECK(refusal(folder / "to-fifo") == "NotRegularFile ");
    CHECK(refusal(folder / "to-nothing") == "MissingShard ");
    CHECK(refusal(folder / "loop") == "SystemError ");
    CHECK(refusal(folder / "s/below") == "MissingShard ");
}

TEST_CASE("what is wrong with a path names the path") {
    const auto problems = problems_of([] { const Shard shard("/dev/null"); });
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].path == "/dev/null");
    CHECK(contains(problems[0].text, "a device"));
}

TEST_CASE("bytes are read from where they are asked for") {
    const TemporaryFolder folder;
    write_file(folder / "s", "0123456789");
    const Shard shard(folder / "s");
    std::string into(4, '\0');
    shard.read(3, into);
    CHECK(into == "3456");
    shard.read(6, into);
    CHECK(into == "6789");
    shard.read(100, {});
    CHECK(kinds(problems_of([&] { shard.read(7, into); })) == "SystemError ");
    CHECK(kinds(problems_of([&] { shard.read(std::uint64_t{1} << 40, into); })) == "SystemError ");
}

TEST_CASE("the mapping is the whole file") {
    const TemporaryFolder folder;
    const std::string bytes = sample_bytes(3 * page + 17, 1);
    write_file(folder / "s", bytes);
    Shard shard(folder / "s");
    shard.map();
    CHECK(bytes_of(shard) == bytes);
    const Shard moved = std::move(shard);
    CHECK(bytes_of(moved) == bytes);
    CHECK(moved.is_unchanged());
}

TEST_CASE("a file that nobody touches is unchanged") {
    const TemporaryFolder folder;
    write_old_file(folder / "s", "0123456789");
    const Shard shard(folder / "s");
    CHECK(shard.is_unchanged());
    CHECK(read_file(folder / "s") == "0123456789");
    CHECK(shard.is_unchanged());
}

TEST_CASE("a file that was written to since is changed") {
    const TemporaryFolder folder;
    const std::string path = folder / "s";
    write_old_file(path, "0123456789");
    const Shard shard(path);
    SECTION("cut short") { fs::resize_file(path, 5); }
    SECTION("made longer") { fs::resize_file(path, 11); }
    SECTION("emptied") { fs::resize_file(path, 0); }
    SECTION("overwritten with as many bytes") { write_file(path, "9876543210"); }
    SECTION("overwritten with the same bytes") { write_file(path, "0123456789"); }
    SECTION("overwritten in one byte") {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(4);
        file << 'x' << std::flush;
    }
    SECTION("appended to") { std::ofstream(path, std::ios::app) << 'x'; }
    CHECK_FALSE(shard.is_unchanged());
}

TEST_CASE("a file that was only renamed, replaced or unlinked is served as it was") {
    const TemporaryFolder folder;
    write_old_file(folder / "s", "0123456789");
    Shard shard(folder / "s");
    shard.map();
    SECTION("replaced by rename") {
        write_file(folder / "new", "98765");
        fs::rename(folder / "new", folder / "s");
    }
    SECTION("renamed") { fs::rename(folder / "s", folder / "elsewhere"); }
    SECTION("unlinked") { fs::remove(folder / "s"); }
    CHECK(shard.is_unchanged());
    CHECK(bytes_of(shard) == "0123456789");
    std::string into(10, '\0');
    shard.read(0, into);
    CHECK(into == "0123456789");
}

TEST_CASE("a mapped file can do without its descriptor") {
    const TemporaryFolder folder;
    write_old_file(folder / "s", "0123456789");
    Shard shard(folder / "s");
    shard.map_and_close();
    CHECK(bytes_of(shard) == "0123456789");
    CHECK(shard.is_unchanged());
    CHECK(shard.populate(0, 10));
    SECTION("a change is noticed") {
        fs::resize_file(folder / "s", 3);
        CHECK_FALSE(shard.is_unchanged());
    }
    SECTION("a replaced file is served as it was") {
        write_file(folder / "new", "98765");
        fs::rename(folder / "new", folder / "s");
        CHECK(shard.is_unchanged());
        CHECK(bytes_of(shard) == "0123456789");
    }
}

TEST_CASE("any range of the file can be brought into memory") {
    const TemporaryFolder folder;
    write_file(folder / "s", sample_bytes(5 * page + 100, 1));
    Shard shard(folder / "s");
    shard.map();
    CHECK(shard.populate(0, shard.size()));
    CHECK(shard.populate(0, 1));
    CHECK(shard.populate(page - 1, 2));
    CHECK(shard.populate(5 * page + 99, 1));
    CHECK(shard.populate(shard.size(), 0));
}

TEST_CASE("bytes are copied past the mapping, or it is said that they are not to be had") {
    const TemporaryFolder folder;
    const std::string bytes = sample_bytes(3 * page, 1);
    write_file(folder / "s", bytes);
    Shard shard(folder / "s");
    shard.map();
    CHECK(shard.is_open());
    CHECK(copy_of(shard, page - 7) == bytes.substr(page - 7, page));
    CHECK(copy_of(shard, 3 * page, 0) == "");
    CHECK_FALSE(copy_of(shard, 2 * page + 1));
    fs::resize_file(folder / "s", page);
    CHECK_FALSE(copy_of(shard, page - 7));
    CHECK(copy_of(shard, 0));
}

TEST_CASE("bytes are copied also from a shard that had to be closed") {
    const TemporaryFolder folder;
    const std::string bytes = sample_bytes(3 * page, 1);
    write_file(folder / "s", bytes);
    Shard shard(folder / "s");
    shard.map_and_close();
    CHECK_FALSE(shard.is_open());
    CHECK(copy_of(shard, page - 7) == bytes.substr(page - 7, page));
    CHECK_FALSE(copy_of(shard, 2 * page + 1));
    CHECK_FALSE(copy_of(shard, 9 * page));
    fs::resize_file(folder / "s", page);
    CHECK_FALSE(copy_of(shard, page));
    CHECK_FALSE(copy_of(shard, page - 7));
    CHECK(copy_of(shard, 0));
}

TEST_CASE("no advice about a range changes its bytes") {
    const TemporaryFolder folder;
    const std::string bytes = sample_bytes(70 * page + 5, 1);
    write_file(folder / "s", bytes);
    Shard shard(folder / "s");
    shard.map();
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{page}, shard.size() - 1}) {
        const std::uint64_t length = shard.size() - offset;
        shard.read_ahead(offset, length);
        CHECK(shard.populate(offset, length));
        shard.let_go(offset, length);
        shard.drop_cached(offset, length);
        CHECK(bytes_of(shard) == bytes);
    }
}

TEST_CASE("what was cut off since is an error, and what is left is not") {
    const TemporaryFolder folder;
    write_file(folder / "s", sample_bytes(16 * page, 1));
    Shard shard(folder / "s");
    shard.map();
    fs::resize_file(folder / "s", 4 * page);
    CHECK(shard.populate(0, 4 * page));
    CHECK_FALSE(shard.populate(4 * page, 1));
    CHECK_FALSE(shard.populate(3 * page, 2 * page));
    CHECK_FALSE(shard.populate(15 * page + 1, 10));
    fs::resize_file(folder / "s", 0);
    CHECK_FALSE(shard.populate(0, 1));
}
