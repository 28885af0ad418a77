#include "fs/paging/distant_reader.hpp"

#include <algorithm>
#include <utility>

namespace tensorfs {
namespace {

using Clock = Streams::Clock;

constexpr std::uint64_t first_window = 2 << 20;

}  // namespace

bool DistantReader::read(const ShardRange& range, std::uint64_t slice_end, std::span<std::byte> into) noexcept {
    Descriptor given_up;  // closed last, for that can wait for the server
    std::unique_lock lock(mutex_);
    Streams::Place place;
    for (;;) {
        place = streams_.place(range, Clock::now());
        if (place.turn != Streams::Turn::waits) break;
        if (place.until == Clock::time_point::max()) {
            has_read_.wait(lock);
        } else {
            has_read_.wait_until(lock, place.until);
        }
    }
    if (place.turn == Streams::Turn::beside) {
        lock.unlock();
        return read_beside(range, into);
    }
    Way& way = ways_[place.stream];
    if (place.is_another_shard) given_up = give_way(place.stream, range.shard);
    if (place.turn == Streams::Turn::begins) way.asked_end = way.window = 0;
    const bool is_steady = streams_.is_steady(place.stream);
    const std::uint64_t largest_window = is_steady ? asking_ahead_.largest_window() : 0;
    lock.unlock();

    const Clock::time_point start = Clock::now();
    if (largest_window != 0) ask_ahead(way, range, slice_end, largest_window);
    const bool is_good = read_through(way, range, into);
    const Clock::time_point end = Clock::now();

    lock.lock();
    streams_.end(place.stream, is_good, range.end >= slice_end, end);
    if (is_good && is_steady) asking_ahead_.count(range.nbytes(), end - start);
    if (!is_good) {
        // Not with the shard's own descriptor again, either.
        given_up = std::move(way.own);
        way.needs_own = true;
    }
    lock.unlock();
    has_read_.notify_all();
    return is_good;
}

Descriptor DistantReader::give_way(std::size_t stream, std::size_t shard) noexcept {
    std::replace(uses_own_.begin(), uses_own_.end(), stream, nobody);
    Way& way = ways_[stream];
    Descriptor before = std::exchange(way.own, Descriptor());
    way.needs_own = uses_own_[shard] != nobody;
    if (!way.needs_own) uses_own_[shard] = stream;
    return before;
}

bool DistantReader::read_through(Way& way, const ShardRange& range, std::span<std::byte> into) noexcept {
    const Shard& shard = shards_[range.shard];
    const bool is_new = way.needs_own && !way.own;
    // Where no more files may be opened, the shard's own descriptor has to do.
    if (is_new) way.own = shard.reopen();
    if (shard.copy(range.begin, into, way.own)) return true;
    if (is_new) return false;
    const Descriptor before = std::exchange(way.own, shard.reopen());
    way.needs_own = true;
    return way.own && shard.copy(range.begin, into, way.own);
}

void DistantReader::ask_ahead(Way& way, const ShardRange& range, std::uint64_t slice_end,
                              std::uint64_t largest_window) const noexcept {
    // Without a mapping there is no page cache either that could keep what comes.
    if (!shards_[range.shard].is_mapped()) return;
    way.window = std::min(std::max(way.window, first_window), largest_window);
    if (way.asked_end > range.end + way.window / 2) return;
    const std::uint64_t begin = std::max(way.asked_end, range.begin);
    const std::uint64_t end = std::min(std::max(begin, range.end) + way.window, slice_end);
    if (begin >= end) return;
    shards_[range.shard].read_ahead(begin, end - begin, way.own);
    way.asked_end = end;
    way.window *= 2;
}

bool DistantReader::read_beside(const ShardRange& range, std::span<std::byte> into) const noexcept {
    const Shard& shard = shards_[range.shard];
    if (shard.copy(range.begin, into)) return true;
    const Descriptor again = shard.reopen();
    return again && shard.copy(range.begin, into, again);
}

}  // namespace tensorfs
