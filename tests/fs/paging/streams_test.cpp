#include "fs/paging/streams.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "fs/paging/asking_ahead.hpp"
#include "tests/support/catch.hpp"

using namespace tensorfs;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t kib = 1 << 10;
constexpr std::uint64_t mib = 1 << 20;
using Turn = Streams::Turn;

ShardRange range(std::uint64_t begin, std::uint64_t nbytes, std::size_t shard = 0) {
    return {shard, begin, begin + nbytes};
}

/// Streams, and a clock that goes only when it is told to.
struct Afternoon {
    Streams streams;
    Streams::Clock::time_point now{1h};

    Streams::Place place(const ShardRange& read) { return streams.place(read, now); }
    void end(std::size_t stream, bool is_good = true, bool ends_slice = false) {
        streams.end(stream, is_good, ends_slice, now);
    }
    /// A READ that is answered at once; where it went.
    Streams::Place read(const ShardRange& read, bool ends_slice = false) {
        const Streams::Place at = place(read);
        REQUIRE(at.turn != Turn::waits);
        if (at.turn != Turn::beside) end(at.stream, true, ends_slice);
        return at;
    }
};

}  // namespace

TEST_CASE("who reads on stays in one stream, to the end") {
    Afternoon a;
    const Streams::Place first = a.read(range(0, 128 * kib));
    CHECK(first.turn == Turn::begins);
    CHECK(first.is_another_shard);
    CHECK_FALSE(a.streams.is_steady(first.stream));
    for (std::uint64_t at = 128 * kib; at < 64 * mib; at += 128 * kib) {
        a.now += 1min;  // however slowly
        const Streams::Place next = a.read(range(at, 128 * kib));
        CHECK(next.turn == Turn::goes_on);
        CHECK(next.stream == first.stream);
    }
    CHECK(a.streams.is_steady(first.stream));
}

TEST_CASE("one READ of a stream at a time: the next waits until it has ended") {
    Afternoon a;
    const Streams::Place first = a.place(range(0, mib));
    const Streams::Place second = a.place(range(mib, mib));
    CHECK(second.turn == Turn::waits);
    CHECK(second.until == Streams::Clock::time_point::max());
    a.end(first.stream);
    CHECK(a.place(range(mib, mib)).turn == Turn::goes_on);
    CHECK(a.place(range(2 * mib, mib)).turn == Turn::waits);
}

TEST_CASE("a READ that has overtaken others lets them go first, and waits no longer than they may take") {
    Afternoon a;
    a.read(range(0, mib));
    a.read(range(mib, mib));
    const Streams::Place early = a.place(range(3 * mib, mib));
    CHECK(early.turn == Turn::waits);
    CHECK(early.until == a.now + Streams::patience);
    CHECK(a.read(range(2 * mib, mib)).turn == Turn::goes_on);
    CHECK(a.place(range(3 * mib, mib)).turn == Turn::goes_on);
    a.end(0);

    CHECK(a.place(range(6 * mib, mib)).turn == Turn::waits);
    a.now += Streams::patience;
    const Streams::Place jump = a.read(range(6 * mib, mib));
    CHECK(jump.turn == Turn::begins);
    CHECK(jump.stream != 0);
    CHECK(a.read(range(4 * mib, mib)).stream == 0);  // the one that it left alone
}

TEST_CASE("reads at random places wait for nobody, and take no more streams than there are readers") {
    Afternoon a;
    std::set<std::size_t> streams;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        a.now += 25ms;
        const Streams::Place at = a.read(range(i * 7919 % 1000 * 2 * mib, 4 * kib));
        if (at.turn == Turn::begins) streams.insert(at.stream);
    }
    CHECK(streams.size() == 1);
}

TEST_CASE("what a stream has just brought is read beside it") {
    Afternoon a;
    a.read(range(0, mib));
    const Streams::Place next = a.place(range(mib, mib));
    CHECK(a.place(range(512 * kib, 128 * kib)).turn == Turn::beside);
    CHECK(a.place(range(mib, 128 * kib)).turn == Turn::beside);  // on its way
    a.end(next.stream);
    CHECK(a.read(range(2 * mib, mib)).stream == next.stream);
}

TEST_CASE("readers of two tensors have a stream each; one who follows on the other's takes it over") {
    Afternoon a;
    for (std::uint64_t i = 0; i < 10; ++i) {
        const bool is_last = i == 9;
        CHECK(a.read(range(i * mib, mib), is_last).stream == 0);
        CHECK(a.read(range(100 * mib + i * mib, mib)).stream == 1);
    }
    const Streams::Place next = a.read(range(10 * mib, mib));
    CHECK(next.turn == Turn::goes_on);
    CHECK(next.stream == 0);
}

TEST_CASE("the stream of a tensor that was read to its end is the next one's") {
    Afternoon a;
    a.read(range(0, mib));
    a.read(range(mib, mib), true);
    const Streams::Place other = a.read(range(500 * mib, mib));
    CHECK(other.turn == Turn::begins);
    CHECK(other.stream == 0);
    CHECK_FALSE(other.is_another_shard);
}

TEST_CASE("shards do not share a stream") {
    Afternoon a;
    a.read(range(0, mib, 0));
    CHECK(a.read(range(mib, mib, 1)).turn == Turn::begins);
    CHECK(a.read(range(mib, mib, 0)).stream == 0);
}

TEST_CASE("after a READ that failed nobody goes on, and who waited begins by himself") {
    Afternoon a;
    a.read(range(0, mib));
    const Streams::Place failing = a.place(range(mib, mib));
    CHECK(a.place(range(2 * mib, mib)).turn == Turn::waits);
    a.end(failing.stream, false);
    const Streams::Place waited = a.place(range(2 * mib, mib));
    CHECK(waited.turn == Turn::begins);
    CHECK(a.place(range(mib, mib)).turn == Turn::begins);
}

TEST_CASE("when all streams are busy, READs go beside them; when none is to spare, the oldest goes") {
    Afternoon a;
    for (std::uint64_t i = 0; i < Streams::most; ++i) {
        CHECK(a.place(range(i * 100 * mib, mib)).turn == Turn::begins);
    }
    CHECK(a.place(range(5000 * mib, mib)).turn == Turn::beside);
    a.end(7);
    a.now += 1ms;
    a.end(3);
    const Streams::Place place = a.place(range(5000 * mib, mib));
    CHECK(place.turn == Turn::begins);
    CHECK(place.stream == 7);
}

TEST_CASE("asking ahead is tried where plain reading is slow, and stays where it is faster twice") {
    AskingAhead distant;
    int tries = 0;
    for (int i = 0; i < 100; ++i) {
        const bool asks = distant.largest_window() != 0;
        tries += distant.largest_window() == 512 * kib ? 1 : 0;
        distant.count(128 * kib, asks ? 1ms : 10ms);
    }
    CHECK(tries >= 2 * 16);
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(distant.largest_window() == 32 * mib);
        distant.count(128 * kib, 1ms);
    }
}

TEST_CASE("asking ahead that seems to win once, by chance, is not kept") {
    AskingAhead server;
    for (int i = 0; i < 4; ++i) server.count(128 * kib, 10ms);  // something else kept it busy
    int asked = 0;
    for (int i = 0; i < 1000; ++i) {
        asked += server.largest_window() != 0 ? 1 : 0;
        server.count(128 * kib, 2ms);
    }
    CHECK(asked < 40);
}

TEST_CASE("asking ahead that brings nothing is given up, and tried again ever more rarely") {
    AskingAhead server;
    std::uint64_t asked = 0;
    constexpr std::uint64_t reads = 80'000;
    for (std::uint64_t i = 0; i < reads; ++i) {
        asked += server.largest_window() != 0 ? 1 : 0;
        server.count(128 * kib, 2ms);
    }
    CHECK(asked > 0);
    CHECK(asked < reads / 200);
}

TEST_CASE("a filesystem that is quick is not asked ahead") {
    AskingAhead local;
    for (int i = 0; i < 10'000; ++i) {
        local.count(128 * kib, 100us);
        REQUIRE(local.largest_window() == 0);
    }
}

TEST_CASE("asking ahead ends where it has become slower than reading plainly was") {
    AskingAhead changing;
    for (int i = 0; i < 200; ++i) changing.count(128 * kib, changing.largest_window() == 0 ? 10ms : 1ms);
    CHECK(changing.largest_window() == 32 * mib);
    int asked = 0;
    for (int i = 0; i < 2000; ++i) {
        asked += changing.largest_window() != 0 ? 1 : 0;
        changing.count(128 * kib, 30ms);
    }
    CHECK(asked < 1000);
}
