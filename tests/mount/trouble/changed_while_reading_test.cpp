// What those see who are in the middle of using a shard while it changes.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "tests/support/catch.hpp"
#include "tests/support/clients.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

constexpr std::size_t big_size = 4 << 20;
constexpr std::size_t chunk = 64 << 10;

/// Two shards, mounted: `big` in one that is going to change, `other` in one that is not.
class Served {
public:
    Served() {
        write_file(shard(), safetensors_file({{"big", "U8", {big_size}, bytes_}}));
        write_file(folder_ / "other.safetensors", safetensors_file({{"other", "U8", {5}, "other"}}));
        mount_.emplace(folder_.path().string());
    }
    [[nodiscard]] std::string shard() const { return folder_ / "changing.safetensors"; }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }
    [[nodiscard]] std::string bytes(std::size_t at) const { return bytes_.substr(at, chunk); }
    [[nodiscard]] std::string path(std::string_view name = "big") const { return *mount_ / name; }
    /// How often the log speaks of the shard.
    [[nodiscard]] std::size_t complaints() { return count_of("changing.safetensors", mount_->daemon().errors()); }
    /// Whether readers of the other shard notice nothing, and the daemon goes on.
    [[nodiscard]] bool others_go_on() {
        return read_once(open_direct(path("other")), 0, 5).bytes == "other" && !mount_->daemon().ended();
    }
    /// A file with the shard's header and size and other data, beside it.
    [[nodiscard]] std::string another() const {
        write_file(folder_ / "new", safetensors_file({{"big", "U8", {big_size}, sample_bytes(big_size, 9)}}));
        return folder_ / "new";
    }

private:
    std::string bytes_ = sample_bytes(big_size, 1);
    TemporaryFolder folder_;
    std::optional<Mounted> mount_;
};

/// The mapping of a file, in this process.
class Mapping {
public:
    explicit Mapping(const std::string& path) {
        const tensorfs::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        bytes_ = static_cast<const char*>(::mmap(nullptr, big_size, PROT_READ, MAP_SHARED, file.get(), 0));
        if (bytes_ == MAP_FAILED) throw std::runtime_error("cannot map " + path);
        ::madvise(const_cast<char*>(bytes_), big_size, MADV_RANDOM);  // so that only what is looked at is read
    }
    ~Mapping() { ::munmap(const_cast<char*>(bytes_), big_size); }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    /// What becomes of a process that looks at these bytes: as look_through_mapping() has it.
    [[nodiscard]] int look_at(std::size_t offset, const std::string& expected) const {
        Forked looker([&] { return std::equal(expected.begin(), expected.end(), bytes_ + offset) ? 0 : 1; });
        return looker.wait();
    }

private:
    const char* bytes_;
};

/// Reads the file once from its beginning to its end and has the shard changed half-way. Each read
/// must give the old bytes or EIO; answers how many gave EIO.
std::size_t stream_over(const Served& served, const std::function<void()>& change) {
    const auto file = open_direct(served.path());
    std::size_t failed = 0;
    for (std::size_t at = 0; at < big_size; at += chunk) {
        if (at == big_size / 2) change();
        const Got got = read_once(file, at, chunk);
        if (got.error == EIO) {
            ++failed;
        } else {
            REQUIRE(got.error == 0);
            REQUIRE((got.bytes == served.bytes(at)));
        }
    }
    return failed;
}

void overwrite(const std::string& path, const std::string& bytes) {
    const tensorfs::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    REQUIRE(::pwrite(file.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
}

}  // namespace

TEST_CASE("of a mapped file whose shard is cut short, pages that were seen stay and others are SIGBUS") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    Served served;
    const Mapping mapping(served.path());
    REQUIRE(mapping.look_at(0, served.bytes(0)) == 0);
    REQUIRE(mapping.look_at(big_size - chunk, served.bytes(big_size - chunk)) == 0);
    REQUIRE(::truncate(served.shard().c_str(), big_size / 4) == 0);
    CHECK(mapping.look_at(0, served.bytes(0)) == 0);
    CHECK(mapping.look_at(big_size - chunk, served.bytes(big_size - chunk)) == 0);
    CHECK(mapping.look_at(big_size / 2, served.bytes(big_size / 2)) == -SIGBUS);
    for (std::size_t at = 0; at < big_size; at += chunk) {  // nowhere zeros
        const int end = mapping.look_at(at, served.bytes(at));
        CHECK((end == 0 || end == -SIGBUS));
    }
    CHECK(served.complaints() == 1);
    CHECK(served.others_go_on());
}

TEST_CASE("of a mapped file whose shard is overwritten, no page shows the new bytes") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    Served served;
    const Mapping mapping(served.path());
    REQUIRE(mapping.look_at(0, served.bytes(0)) == 0);
    overwrite(served.shard(), read_file(served.another()));
    CHECK(mapping.look_at(0, served.bytes(0)) == 0);
    CHECK(mapping.look_at(big_size / 2, served.bytes(big_size / 2)) == -SIGBUS);
    CHECK(served.complaints() == 1);
    CHECK(served.others_go_on());
}

TEST_CASE("a reader of a shard that is overwritten in place gets old bytes, then EIO") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    Served served;
    const std::string other = read_file(served.another());
    CHECK(stream_over(served, [&] { overwrite(served.shard(), other); }) == big_size / chunk / 2);
    CHECK(served.complaints() == 1);
    CHECK(served.others_go_on());
}

TEST_CASE("a reader of a shard that is cut short gets old bytes, then EIO") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    Served served;
    const auto cut = [&] { REQUIRE(::truncate(served.shard().c_str(), big_size / 4) == 0); };
    CHECK(stream_over(served, cut) == big_size / chunk / 2);
    CHECK(served.complaints() == 1);
    CHECK(served.others_go_on());
}

TEST_CASE("a reader of a shard that is appended to gets old bytes, then EIO") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    Served served;
    const auto size = static_cast<off_t>(std::filesystem::file_size(served.shard()));
    CHECK(stream_over(served, [&] { REQUIRE(::truncate(served.shard().c_str(), size + 1) == 0); }) ==
          big_size / chunk / 2);
    CHECK(served.complaints() == 1);
    CHECK(served.others_go_on());
}

TEST_CASE("a reader of a shard that is replaced by rename goes on with the old bytes") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    Served served;
    const Mapping mapping(served.path());
    CHECK(stream_over(served, [&] { std::filesystem::rename(served.another(), served.shard()); }) == 0);
    CHECK(mapping.look_at(0, served.bytes()) == 0);
    CHECK(served.complaints() == 0);
    CHECK(served.others_go_on());
}

TEST_CASE("a reader of a shard that is deleted goes on with the old bytes") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    Served served;
    const Mapping mapping(served.path());
    CHECK(stream_over(served, [&] { std::filesystem::remove(served.shard()); }) == 0);
    CHECK(mapping.look_at(0, served.bytes()) == 0);
    CHECK(served.complaints() == 0);
    CHECK(served.others_go_on());
}
