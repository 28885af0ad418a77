// What is read when the disk that a shard is on fails, is slow, hangs or goes away.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "tests/support/catch.hpp"
#include "tests/support/clients.hpp"
#include "tests/support/mounted.hpp"
#include "tests/support/residency.hpp"

using namespace tensorfs::tests;

namespace {

constexpr std::size_t big_size = 16 << 20;
constexpr std::size_t middle = big_size / 2;  // nobody reads so far ahead of the beginning
constexpr std::size_t chunk = 64 << 10;

/// A model on a disk that fails when it is told to: `bad/big` and `bad/small` in one shard, `good` in
/// another. Both are mounted: the disk, and the model that is on it.
class FaultyModel {
public:
    explicit FaultyModel(const std::vector<std::string>& options = {}) {
        write_file(shards_ / "bad.safetensors",
                   safetensors_file({{"bad.small", "U8", {5}, "small"}, {"bad.big", "U8", {big_size}, big_}}));
        write_file(shards_ / "good.safetensors", safetensors_file({{"good", "U8", {big_size}, good_}}));
        disk_ = std::make_unique<Child>(
            std::vector<std::string>{TENSORFS_FAULTY_FS, shards_.path().string(), faults_.path().string(), at_.path()});
        if (!eventually([&] { return std::filesystem::exists(at_ / "bad.safetensors") || disk_->ended(); }) ||
            disk_->ended())
            throw std::runtime_error("the faulty disk is not there: " + disk_->errors());
        mount_.emplace(at_.path(), options);
    }
    ~FaultyModel() { heal(); }
    FaultyModel(const FaultyModel&) = delete;
    FaultyModel& operator=(const FaultyModel&) = delete;

    /// From now on, reading the bad shard suffers this.
    void fail(const std::string& fault) const {
        write_file(faults_ / "new", fault);
        std::filesystem::rename(faults_ / "new", faults_ / "bad.safetensors");
    }
    void heal() const { std::filesystem::remove(faults_ / "bad.safetensors"); }
    /// The disk's driver dies, and the disk with it.
    void lose_disk() {
        disk_->signal(SIGKILL);
        disk_->wait();
    }

    [[nodiscard]] Mounted& mount() { return *mount_; }
    [[nodiscard]] std::string path(std::string_view name) const { return *mount_ / name; }
    [[nodiscard]] const std::string& big() const { return big_; }
    [[nodiscard]] std::string big(std::size_t offset) const { return big_.substr(offset, chunk); }
    [[nodiscard]] Got read_big(std::size_t offset) const {
        return read_once(open_direct(path("bad/big")), offset, chunk);
    }
    /// The bad shard, on its disk.
    [[nodiscard]] std::string shard() const { return at_ / "bad.safetensors"; }
    void drop_cached() const { drop_from_cache(shard()); }
    [[nodiscard]] bool good_is_right() const { return read_file(path("good")) == good_; }
    /// How often the log speaks of the bad shard.
    [[nodiscard]] std::size_t complaints() { return count_of("bad.safetensors", mount_->daemon().errors()); }

private:
    std::string big_ = sample_bytes(big_size, 1);
    std::string good_ = sample_bytes(big_size, 2);
    TemporaryFolder shards_;
    TemporaryFolder faults_;
    MountPoint at_;
    std::unique_ptr<Child> disk_;
    std::optional<Mounted> mount_;
};

/// Processes that read the bad shard, each another part, and exit with 0 if it is right.
std::vector<std::unique_ptr<Forked>> start_readers(const FaultyModel& model, std::size_t count) {
    std::vector<std::unique_ptr<Forked>> readers;
    for (std::size_t i = 0; i < count; ++i) {
        readers.push_back(std::make_unique<Forked>([&model, offset = middle + i * 2 * chunk] {
            const Got got = model.read_big(offset);
            return got.error != 0 ? got.error : got.bytes == model.big(offset) ? 0 : 255;
        }));
    }
    return readers;
}

}  // namespace

TEST_CASE("a disk that fails gives EIO, never zeros, until it works again") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    FaultyModel model;
    const tensorfs::Descriptor open_before(::open(model.path("bad/big").c_str(), O_RDONLY | O_CLOEXEC));
    model.fail("eio");
    CHECK(model.read_big(middle).error == EIO);
    CHECK(read_once(open_before, middle, chunk).error == EIO);
    CHECK(look_through_mapping(model.path("bad/big"), middle, model.big(middle)) == -SIGBUS);
    CHECK(model.good_is_right());
    CHECK_FALSE(model.mount().daemon().ended());

    model.heal();
    CHECK((model.read_big(middle).bytes == model.big(middle)));
    CHECK((read_once(open_before, middle, chunk).bytes == model.big(middle)));
    CHECK(look_through_mapping(model.path("bad/big"), middle, model.big(middle)) == 0);
    CHECK((read_file(model.path("bad/big")) == model.big()));
    CHECK(read_file(model.path("bad/small")) == "small");
}

TEST_CASE("the log says once that a shard cannot be read, and which") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    FaultyModel model;
    CHECK(model.complaints() == 0);
    model.fail("eio");
    for (int i = 0; i < 10; ++i) CHECK(model.read_big(middle).error == EIO);
    CHECK(model.complaints() == 1);
    CHECK(model.mount().daemon().errors().find("its bytes cannot be read") != std::string::npos);
}

TEST_CASE("a disk that fails in the middle of a file gives right bytes before and EIO behind") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const FaultyModel model;
    const auto file = open_direct(model.path("bad/big"));
    std::size_t failed = 0;
    for (std::size_t at = 0; at < big_size; at += chunk) {
        if (at == middle) model.fail("eio");
        const Got got = read_once(file, at, chunk);
        if (got.error == 0) {
            REQUIRE((got.bytes == model.big(at)));
        } else {
            REQUIRE(got.error == EIO);
            REQUIRE(at >= middle);
            ++failed;
        }
    }
    CHECK(failed > big_size / chunk / 4);  // what was read ahead is still there
}

TEST_CASE("a slow disk makes its own readers wait, and gives them the right bytes") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const FaultyModel model;
    model.fail("delay 300");
    const auto start = std::chrono::steady_clock::now();
    const auto readers = start_readers(model, 4);
    CHECK(model.good_is_right());
    for (const auto& reader : readers) CHECK(reader->wait() == 0);
    CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(300));
}

TEST_CASE("a tensor on a distant disk is read faster through the mount than from the disk itself") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const FaultyModel model;
    const auto time_to_read = [](const std::string& path) {
        const auto start = std::chrono::steady_clock::now();
        const std::size_t size = read_file(path).size();
        return std::pair(std::chrono::steady_clock::now() - start, size);
    };
    model.fail("delay 20");
    // First from the disk: once the daemon has read them, pages are mapped and cannot be dropped.
    const auto [from_disk, shard] = time_to_read(model.shard());
    CHECK(shard > big_size);
    model.drop_cached();
    const auto [through_mount, tensor] = time_to_read(model.path("bad/big"));
    CHECK(tensor == big_size);
    INFO(std::chrono::duration<double>(through_mount).count()
         << " s through the mount, " << std::chrono::duration<double>(from_disk).count() << " s from the disk");
    CHECK(through_mount < from_disk);
}

TEST_CASE("a disk that hangs does not keep the readers of other shards waiting") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    FaultyModel model({"-o", "threads=9"});
    model.fail("hang");
    const auto readers = start_readers(model, 8);
    CHECK(eventually([&] { return model.mount().requests("read") >= 8; }));
    CHECK(model.good_is_right());
    CHECK(names_in(model.path("bad")).size() == 2);
    for (const auto& reader : readers) CHECK_FALSE(reader->ended());
    model.heal();
    for (const auto& reader : readers) CHECK(reader->wait() == 0);
}

TEST_CASE("a disk that fails and then hangs does not keep the readers of other shards waiting") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    FaultyModel model;
    model.fail("eio");
    for (const auto& reader : start_readers(model, 8)) CHECK(reader->wait() == EIO);
    const auto failed = model.mount().requests("read");
    model.fail("hang");
    const auto readers = start_readers(model, 8);
    CHECK(eventually([&] { return model.mount().requests("read") >= failed + 8; }));
    CHECK(model.good_is_right());
    for (const auto& reader : readers) CHECK_FALSE(reader->ended());
    model.heal();
    for (const auto& reader : readers) CHECK(reader->wait() == 0);
}

TEST_CASE("a signal unmounts within seconds even while the disk hangs, and lets its readers go") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    FaultyModel model;
    model.fail("hang");
    const auto readers = start_readers(model, 4);
    CHECK(eventually([&] { return model.mount().requests("read") >= 4; }));
    const auto start = std::chrono::steady_clock::now();
    model.mount().daemon().signal(SIGTERM);
    CHECK(eventually([&] { return model.mount().daemon().ended(); }, std::chrono::seconds(6)));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(6));
    CHECK_FALSE(model.mount().is_mounted());
    for (const auto& reader : readers) {
        const bool let_go = eventually([&] { return reader->ended(); }, std::chrono::seconds(5));
        CHECK(let_go);
        if (let_go) CHECK(reader->wait() != 0);
    }
    model.heal();
    CHECK(model.mount().daemon().wait().code == 0);
}

TEST_CASE("a disk that is gone altogether gives EIO, and what does not need it goes on") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    FaultyModel model;
    model.lose_disk();
    for (int i = 0; i < 3; ++i) CHECK(model.read_big(middle).error == EIO);
    CHECK(look_through_mapping(model.path("bad/big"), middle, model.big(middle)) == -SIGBUS);
    CHECK(get_xattr(model.path("bad/big"), "user.tensor.nbytes") == std::to_string(big_size));
    CHECK(names_in(model.path("bad")) == std::vector<std::string>{"big", "small"});
    CHECK(model.complaints() == 1);
    CHECK_FALSE(model.mount().daemon().ended());
    model.mount().daemon().signal(SIGTERM);
    CHECK(model.mount().daemon().wait().code == 0);
    CHECK_FALSE(model.mount().is_mounted());
}
