// When the system does not give the daemon what it would like: descriptors, processes.

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/clients.hpp"
#include "tests/support/mounted.hpp"
#include "tests/support/ordinary_user.hpp"

using namespace tensorfs::tests;

namespace {

constexpr std::size_t shard_count = 1000;

std::string tensor_name(std::size_t i) { return "t" + std::to_string(i); }

/// A thousand shards of a tensor each, mounted by a daemon that may open 256 files.
class ManyShards {
public:
    ManyShards() {
        for (std::size_t i = 0; i < shard_count; ++i) write_file(shard(i), shard_bytes(i, tensor_name(i)));
        daemon_.emplace(std::vector<std::string>{"prlimit", "--nofile=256:256", program(), "-f", "-o", "log=warning",
                                                 folder_.path().string(), at_.path()});
        if (!eventually([&] { return daemon_->ended() || std::filesystem::exists(at_ / ".tensorfs"); }) ||
            daemon_->ended())
            throw std::runtime_error("cannot mount: " + daemon_->errors());
    }
    ~ManyShards() {
        daemon_->signal(SIGTERM);
        eventually([&] { return daemon_->ended(); });
    }
    ManyShards(const ManyShards&) = delete;
    ManyShards& operator=(const ManyShards&) = delete;

    static std::string shard_bytes(std::size_t i, const std::string& text) {
        return safetensors_file({{tensor_name(i), "U8", {text.size()}, text}});
    }
    [[nodiscard]] std::string shard(std::size_t i) const {
        return folder_ / ("shard" + std::to_string(i) + ".safetensors");
    }
    [[nodiscard]] std::string path(std::size_t i) const { return at_ / tensor_name(i); }
    [[nodiscard]] bool is_right(std::size_t i) const { return read_file(path(i)) == tensor_name(i); }
    [[nodiscard]] int error_of(std::size_t i) const { return read_once(open_direct(path(i)), 0, 1).error; }
    [[nodiscard]] Child& daemon() { return *daemon_; }

private:
    TemporaryFolder folder_;
    MountPoint at_;
    std::optional<Child> daemon_;
};

}  // namespace

TEST_CASE("a thousand shards are served by a daemon that may open 256 files") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    ManyShards model;
    std::size_t right = 0;
    for (std::size_t i = 0; i < shard_count; ++i) right += model.is_right(i) ? 1U : 0U;
    CHECK(right == shard_count);
    CHECK(names_in("/proc/" + std::to_string(model.daemon().pid()) + "/fd").size() < 256);
    CHECK(model.daemon().errors().empty());
}

TEST_CASE("of shards that could not be kept open, changed ones give EIO and replaced ones go on") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    ManyShards model;
    std::size_t at = 0;
    std::size_t right = 0;
    for (const std::size_t first : {0U, 500U, 990U}) {  // at the end of them, some were surely not kept open
        REQUIRE(::truncate(model.shard(first).c_str(), 3) == 0);
        const timespec both[2] = {{1, 0}, {1, 0}};
        REQUIRE(::utimensat(AT_FDCWD, model.shard(first + 1).c_str(), both, 0) == 0);
        write_file(model.shard(first + 2) + ".new", ManyShards::shard_bytes(first + 2, "other"));
        std::filesystem::rename(model.shard(first + 2) + ".new", model.shard(first + 2));
        std::filesystem::remove(model.shard(first + 3));

        CHECK(model.error_of(first) == EIO);
        CHECK(model.error_of(first + 1) == EIO);
        for (at = first + 2; at < first + 5; ++at) right += model.is_right(at) ? 1U : 0U;
    }
    CHECK(right == 9);
    CHECK(count_of("\n", model.daemon().errors()) == 6);
}

TEST_CASE("with a full process table mounting works or fails with a message, and never hangs") {
    if (const std::string why = OrdinaryUser::cannot_mount(); !why.empty()) SKIP_TEST(why);
    const OrdinaryUser user;
    // Which it is depends on how many processes the user has: each limit says how it went.
    const Result result = user.run_script(R"sh(
        export ASAN_OPTIONS=detect_leaks=0  # where the program is built so: its check takes a process
        trap 'fusermount3 -q -u -z at' EXIT
        for limit in 1 2 3 4 5 6 7 8 9 10 12 15 20 none; do
            limited="prlimit --nproc=$limit:$limit"
            [ $limit != none ] || limited=
            for foreground in '' -f; do
                timeout -s KILL 10 $limited ./tensorfs $foreground -o fsname=none 'my, model' \
                    at 2>message &
                started=$!
                until ! kill -0 $started 2>/dev/null || grep -q " $PWD/at " /proc/self/mountinfo; do sleep 0.01; done
                if grep -q " $PWD/at " /proc/self/mountinfo && [ "$(timeout 5 cat at/a/weight)" = abcd ]; then
                    until fusermount3 -q -u at; do sleep 0.01; done
                    wait $started && echo mounted || echo "mounted with exit code $?"
                else
                    wait $started
                    echo "refused with $?: $(tail -n 1 message)"
                    ! grep -q " $PWD/at " /proc/self/mountinfo || { echo 'left something'; fusermount3 -u -z at; }
                fi
            done
        done
    )sh");
    INFO(result.out + result.err);
    CHECK(result.code == 0);
    std::size_t mounted = 0;
    std::size_t refused = 0;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        const bool is_refusal = line.starts_with("refused with 8: tensorfs: cannot ") ||
                                line.starts_with("refused with 9: tensorfs: cannot ");
        CHECK((line == "mounted" || is_refusal));
        ++(is_refusal ? refused : mounted);
    }
    CHECK(mounted > 0);
    CHECK(refused > 0);
}
