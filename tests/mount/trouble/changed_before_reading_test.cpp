// What is read when a shard is no longer what it was when it was mounted.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

constexpr std::size_t big_size = 3'000'001;

/// Two shards: `one.big` and `one.last` in the first, `two` in the second. Mounted.
class Served {
public:
    Served() {
        write_file(one(), safetensors_file({{"one.big", "U8", {big_size}, big_}, {"one.last", "U8", {4}, "last"}}));
        write_file(two(), safetensors_file({{"two", "U8", {3}, "two"}}));
        mount_.emplace(folder_.path().string());
    }

    [[nodiscard]] std::string one() const { return folder_ / "one.safetensors"; }
    [[nodiscard]] std::string two() const { return folder_ / "two.safetensors"; }
    [[nodiscard]] const std::string& big() const { return big_; }
    [[nodiscard]] std::string path(std::string_view name) const { return *mount_ / name; }

    /// errno of reading the file's bytes from `offset` on, past every cache but the daemon's; 0 if
    /// they can be read.
    [[nodiscard]] int error_at(std::string_view name, off_t offset) const {
        const tensorfs::Descriptor file(::open(path(name).c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
        REQUIRE(file);
        char byte = 0;
        return ::pread(file.get(), &byte, 1, offset) == 1 ? 0 : errno;
    }

private:
    std::string big_ = sample_bytes(big_size, 1);
    TemporaryFolder folder_;
    std::optional<Mounted> mount_;
};

}  // namespace

TEST_CASE("of a shard that was cut short nothing is read, and other shards go on") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    CHECK(served.error_at("one/big", 0) == 0);
    REQUIRE(::truncate(served.one().c_str(), 1'000'000) == 0);
    CHECK(served.error_at("one/big", 0) == EIO);
    CHECK(served.error_at("one/big", 2'000'000) == EIO);
    CHECK(served.error_at("one/last", 0) == EIO);
    CHECK(read_file(served.path("two")) == "two");
    CHECK(get_xattr(served.path("one/last"), "user.tensor.nbytes") == "4");
    const std::string stats = get_xattr(served.path(""), "user.tensorfs.stats").value();
    CHECK(stats.find("\"errors\":3") != std::string::npos);
}

TEST_CASE("a shard that was written to is not read any more, even where its size is the same") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    const tensorfs::Descriptor shard(::open(served.one().c_str(), O_WRONLY | O_CLOEXEC));
    REQUIRE(::pwrite(shard.get(), "x", 1, 1000) == 1);
    CHECK(served.error_at("one/big", 0) == EIO);
    CHECK(served.error_at("one/last", 0) == EIO);
    CHECK(read_file(served.path("two")) == "two");
}

TEST_CASE("a shard that was touched is not trusted any more") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    const timespec both[2] = {{1, 0}, {1, 0}};
    REQUIRE(::utimensat(AT_FDCWD, served.two().c_str(), both, 0) == 0);
    CHECK(served.error_at("two", 0) == EIO);
    CHECK(served.error_at("one/last", 0) == 0);
}

TEST_CASE("a shard that was replaced by rename, or removed, goes on being served as it was") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    write_file(served.one() + ".new", "something else");
    std::filesystem::rename(served.one() + ".new", served.one());
    std::filesystem::remove(served.two());
    CHECK((read_file(served.path("one/big")) == served.big()));
    CHECK(read_file(served.path("one/last")) == "last");
    CHECK(read_file(served.path("two")) == "two");
}

TEST_CASE("what the kernel has cached of a shard stays right after the shard is cut short") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    CHECK((read_file(served.path("one/big")) == served.big()));
    REQUIRE(::truncate(served.one().c_str(), 100) == 0);
    CHECK((read_file(served.path("one/big")) == served.big()));
}
