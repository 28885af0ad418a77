#include "fs/paging/distant_reader.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/distant.hpp"

namespace tensorfs {
namespace {

using Clock = Streams::Clock;

constexpr std::uint64_t first_window = 2 << 20;

/// Filesystems of web servers' files, which answer a request by the connection that has come to its place, and open
/// another for one that has not: to ask ahead, even to try it, costs connections.
constexpr std::array<std::string_view, 2> strictly_in_order{"fuse.rclone", "fuse.httpdirfs"};

bool is_strictly_in_order(const std::string& type) {
    return std::find(strictly_in_order.begin(), strictly_in_order.end(), type) != strictly_in_order.end();
}

}  // namespace

DistantReader::DistantReader(const std::vector<Shard>& shards)
    : shards_(shards), may_ask_ahead_(shards.size()), uses_own_(shards.size(), nobody) {
    std::map<dev_t, bool> known;  // most models lie on one filesystem
    for (std::size_t i = 0; i < shards.size(); ++i) {
        if (!shards[i].is_distant()) {
            may_ask_ahead_[i] = true;
            continue;
        }
        const auto [found, is_new] = known.try_emplace(shards[i].device());
        if (is_new) found->second = !is_strictly_in_order(filesystem_type(shards[i].device()));
        may_ask_ahead_[i] = found->second;
    }
}

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
    const bool is_steady = may_ask_ahead_[range.shard] && streams_.is_steady(place.stream);
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
