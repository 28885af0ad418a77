#include <chrono>
#include <thread>
#include <vector>

#include "fs/paging/read_ahead.hpp"
#include "fs/paging/release_queue.hpp"
#include "fs/paging/slow_disk.hpp"
#include "tests/support/catch.hpp"

using namespace tensorfs;

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t slice_end = 1000 * mib;

ShardRange range(std::uint64_t begin_mib, std::uint64_t end_mib, std::size_t shard = 0) {
    return {shard, begin_mib * mib, end_mib * mib};
}

/// Reads one MiB after the other of a slice whose disk is slow; what is asked for ahead.
std::vector<ShardRange> read_slowly(ReadAhead& ahead, std::uint64_t begin_mib, std::uint64_t end_mib) {
    std::vector<ShardRange> asked;
    for (std::uint64_t i = begin_mib; i < end_mib; ++i) {
        ahead.count(range(i, i + 1), slice_end, true);
        const ShardRange next = ahead.next(range(i, i + 1), slice_end);
        if (!next.empty()) asked.push_back(next);
    }
    return asked;
}

}  // namespace

TEST_CASE("a disk is slow once blocking READs outnumber the others by three, and stays so") {
    SlowDisk disk;
    for (const bool blocked : {true, true, false, true, false, true}) disk.count(blocked);
    CHECK_FALSE(disk.is_slow());
    disk.count(true);
    CHECK(disk.is_slow());
    for (int i = 0; i < 10; ++i) disk.count(false);
    CHECK(disk.is_slow());
}

TEST_CASE("a disk that was quick for long is slow after three READs that block, not later") {
    SlowDisk disk;
    for (int i = 0; i < 1000; ++i) disk.count(false);
    disk.count(true);
    disk.count(true);
    CHECK_FALSE(disk.is_slow());
    disk.count(true);
    CHECK(disk.is_slow());
}

TEST_CASE("a thread has blocked if it slept for long, not if it was busy for as long") {
    const DiskStopwatch asleep;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(asleep.has_blocked());
    const DiskStopwatch at_once;
    CHECK_FALSE(at_once.has_blocked());
    const DiskStopwatch busy;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < end) {
    }
    CHECK_FALSE(busy.has_blocked());
}

TEST_CASE("nothing is asked ahead of a quick disk") {
    ReadAhead ahead;
    for (std::uint64_t i = 0; i < 100; ++i) {
        ahead.count(range(i, i + 1), slice_end, false);
        CHECK(ahead.next(range(i, i + 1), slice_end).empty());
    }
}

TEST_CASE("a slow disk is asked for growing windows, side by side, that end with the slice") {
    ReadAhead ahead;
    const std::vector<ShardRange> asked = read_slowly(ahead, 0, 1000);
    REQUIRE(asked.size() > 5);
    CHECK(asked.front() == range(3, 5));  // after the third READ that blocks, 2 MiB
    for (std::size_t i = 1; i < asked.size(); ++i) {
        CHECK(asked[i].begin == asked[i - 1].end);
        CHECK(asked[i].nbytes() <= 32 * mib);
    }
    CHECK(asked[1].nbytes() == 4 * mib);
    CHECK(asked[4].nbytes() == 32 * mib);
    CHECK(asked[5].nbytes() == 32 * mib);
    CHECK(asked.back().end == slice_end);
}

TEST_CASE("reading ahead goes on though READs are answered in another order than they were sent in") {
    ReadAhead ahead;
    read_slowly(ahead, 0, 3);
    std::uint64_t asked = 0;
    for (std::uint64_t i = 4; i < 40; i += 2) {
        for (const std::uint64_t at : {i, i - 1}) {  // each two the other way round
            asked += ahead.next(range(at, at + 1), slice_end).nbytes();
        }
    }
    CHECK(asked > 30 * mib);
}

TEST_CASE("who jumps begins anew, with a small window and a disk that must show that it is slow") {
    ReadAhead ahead;
    read_slowly(ahead, 0, 100);
    CHECK(ahead.next(range(500, 501), slice_end).empty());
    CHECK(ahead.next(range(501, 502), slice_end).empty());
    const std::vector<ShardRange> asked = read_slowly(ahead, 502, 506);
    REQUIRE_FALSE(asked.empty());
    CHECK(asked.front() == range(505, 507));
}

TEST_CASE("readers of two slices are told apart, also in one shard") {
    ReadAhead ahead;
    for (std::uint64_t i = 0; i < 3; ++i) {
        ahead.count(range(i, i + 1), 100 * mib, true);
        ahead.count(range(200 + i, 201 + i), 300 * mib, false);
    }
    CHECK_FALSE(ahead.next(range(2, 3), 100 * mib).empty());
    CHECK(ahead.next(range(202, 203), 300 * mib).empty());
}

TEST_CASE("ranges that touch or overlap are one, those of other shards are others") {
    ReleaseQueue::Batch batch;
    CHECK(batch.add(range(0, 1)));
    CHECK(batch.add(range(1, 2)));
    CHECK(batch.add(range(1, 4)));
    CHECK(batch.add(range(0, 1, 1)));
    REQUIRE(batch.end() - batch.begin() == 2);
    CHECK(*batch.begin() == range(0, 4));
    CHECK(batch.nbytes() == 5 * mib);
}

TEST_CASE("a batch takes so many ranges and then refuses, but for one that joins another") {
    ReleaseQueue::Batch batch;
    std::uint64_t i = 0;
    while (batch.add(range(i * 10, i * 10 + 1))) ++i;
    CHECK(i == 256);
    CHECK(batch.add(range(i * 10 - 10, i * 10 - 8)));
    CHECK(batch.nbytes() == 257 * mib);
}

TEST_CASE("what was sent is released one batch later, all of it and each range once") {
    ReleaseQueue queue;
    std::vector<ShardRange> released;
    for (std::uint64_t i = 0; i < 100; ++i) {
        if (const auto batch = queue.add(range(i, i + 1)))
            released.insert(released.end(), batch->begin(), batch->end());
        // What was sent last is never among it.
        for (const ShardRange& one : released) CHECK(one.end + 8 * mib <= (i + 1) * mib);
    }
    REQUIRE(released.size() > 5);
    std::uint64_t end = 0;
    for (const ShardRange& one : released) {
        CHECK(one.begin == end);
        CHECK(one.nbytes() == 8 * mib);
        end = one.end;
    }
    CHECK(end >= 80 * mib);
}
