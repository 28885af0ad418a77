// Many readers at once, impatient ones, and a daemon that is stopped, starved or killed.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/clients.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

constexpr std::size_t big_size = 3'000'001;
constexpr std::size_t chunk = 256 << 10;

/// A model of one tensor, `big`, mounted.
class BigModel {
public:
    BigModel() {
        write_file(shard(), safetensors_file({{"big", "U8", {big_size}, bytes_}}));
        mount_.emplace(shard());
    }
    [[nodiscard]] std::string shard() const { return folder_ / "model.safetensors"; }
    [[nodiscard]] std::string path() const { return *mount_ / "big"; }
    [[nodiscard]] Mounted& mount() { return *mount_; }
    [[nodiscard]] std::size_t threads() const {
        const std::string tasks = "/proc/" + std::to_string(mount_->daemon().pid()) + "/task";
        return names_in(tasks).size();
    }
    /// Whether the file's bytes are right, each read a request to the daemon.
    [[nodiscard]] bool reads_right(std::size_t step = chunk, std::size_t end = big_size) const {
        const auto file = open_direct(path());
        for (std::size_t at = 0; at < end; at += step) {
            if (read_once(file, at, step).bytes != bytes_.substr(at, step)) return false;
        }
        return true;
    }
    /// Starts processes that read the file again and again until that fails. They exit with 1 if
    /// bytes were wrong, else with 0.
    [[nodiscard]] std::vector<std::unique_ptr<Forked>> start_readers(std::size_t count) const {
        std::vector<std::unique_ptr<Forked>> readers;
        for (std::size_t i = 0; i < count; ++i) {
            readers.push_back(std::make_unique<Forked>([this] {
                const auto file = open_direct(path());
                for (std::size_t at = 0;; at = (at + chunk) % (8 * chunk)) {
                    const Got got = read_once(file, at, chunk);
                    if (got.error != 0) return 0;
                    if (got.bytes != bytes_.substr(at, chunk)) return 1;
                }
            }));
        }
        return readers;
    }
    /// Waits until there have been so many more reads.
    [[nodiscard]] bool is_read(std::uint64_t times) const {
        const std::uint64_t before = mount_->requests("read");
        return eventually([&] { return mount_->requests("read") > before + times; });
    }

private:
    std::string bytes_ = sample_bytes(big_size, 1);
    TemporaryFolder folder_;
    mutable std::optional<Mounted> mount_;
};

}  // namespace

TEST_CASE("two hundred readers at once all get the right bytes") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    BigModel model;
    std::atomic<int> right{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 200; ++i) readers.emplace_back([&] { right += model.reads_right() ? 1 : 0; });
    for (std::thread& reader : readers) reader.join();
    CHECK(right == 200);
    CHECK(model.threads() <= 64 + 1);  // the limit, and the one that waits for signals
    CHECK(model.mount().daemon().errors().empty());
}

TEST_CASE("readers that are killed in the middle of a read harm nobody") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    BigModel model;
    for (int round = 0; round < 3; ++round) {
        const auto readers = model.start_readers(10);
        REQUIRE(model.is_read(20));
        for (const auto& reader : readers) ::kill(reader->pid(), SIGKILL);
        for (const auto& reader : readers) CHECK(reader->wait() == -SIGKILL);
        CHECK(model.reads_right());
    }
    CHECK_FALSE(model.mount().daemon().ended());
    CHECK(model.mount().daemon().errors().empty());
}

TEST_CASE("SIGTERM under load ends cleanly, and every reader is let go") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    BigModel model;
    const auto readers = model.start_readers(20);
    REQUIRE(model.is_read(100));
    model.mount().daemon().signal(SIGTERM);
    const Result result = model.mount().daemon().wait();
    CHECK(result.code == 0);
    CHECK(result.err.empty());
    CHECK_FALSE(model.mount().is_mounted());
    for (const auto& reader : readers) CHECK(reader->wait() == 0);
}

TEST_CASE("fusermount3 -u -z under load lets readers go on, and the daemon ends with the last of them") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    BigModel model;
    auto readers = model.start_readers(20);
    REQUIRE(model.is_read(100));
    CHECK(run({"fusermount3", "-u", "-z", model.mount().path()}).code == 0);
    CHECK_FALSE(model.mount().is_mounted());
    CHECK_FALSE(model.mount().daemon().ended());
    for (const auto& reader : readers) CHECK_FALSE(reader->ended());
    readers.clear();
    const Result result = model.mount().daemon().wait();
    CHECK(result.code == 0);
    CHECK(result.err.empty());
}

TEST_CASE("a daemon that is killed under load lets its readers go, and can be mounted there again") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    BigModel model;
    const auto readers = model.start_readers(20);
    REQUIRE(model.is_read(100));
    model.mount().daemon().signal(SIGKILL);
    CHECK(model.mount().daemon().wait().code == -SIGKILL);
    for (const auto& reader : readers) CHECK(reader->wait() == 0);

    const Adopter adopter;
    CHECK(run({program(), model.shard(), model.mount().path()}).code == 0);
    CHECK(model.reads_right());
    CHECK(unmount(model.mount().path()));
    CHECK_FALSE(model.mount().is_mounted());
}

TEST_CASE("while a debugger has stopped the daemon readers wait, and then get the right bytes") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    BigModel model;
    const pid_t daemon = model.mount().daemon().pid();
    ::kill(daemon, SIGSTOP);
    REQUIRE(eventually([&] { return process_state(daemon) == 'T'; }));
    Forked reader([&] { return model.reads_right() ? 0 : 1; });
    CHECK(eventually([&] {
        const char state = process_state(reader.pid());
        return state == 'S' || state == 'D';
    }));
    CHECK_FALSE(reader.ended());
    ::kill(daemon, SIGCONT);
    CHECK(reader.wait() == 0);
    CHECK(model.mount().daemon().errors().empty());
}

TEST_CASE("who reads one byte at a time gets the right bytes") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    BigModel model;
    CHECK(model.reads_right(1, 5000));  // more than a page, each byte a request
    const tensorfs::Descriptor file(::open(model.path().c_str(), O_RDONLY | O_CLOEXEC));
    const std::string expected = sample_bytes(big_size, 1);
    std::size_t wrong = 0;
    const auto before = model.mount().requests("read");
    for (std::size_t at = 0; at < 300'000; ++at) {
        char byte = 0;
        if (::read(file.get(), &byte, 1) != 1 || byte != expected[at]) ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(model.mount().requests("read") - before < 20);  // the kernel reads ahead
}
