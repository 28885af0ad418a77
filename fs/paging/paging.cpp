#include "fs/paging/paging.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace tensorfs {
namespace {

using Clock = std::chrono::steady_clock;

/// How often this thread has slept: waiting for a disk, it does.
long times_asleep() {
    rusage usage{};
    return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

/// A disk that lets so many READs more wait so long than it does not is slow. On faster ones the
/// kernel's own read-ahead suffices, and is cheaper.
constexpr std::chrono::microseconds slow{700};
constexpr unsigned most_waits = 3;

/// The kernel sends several READs of a file at once, and they are answered in any order: reading goes
/// on where it left off if it does so nearly.
constexpr std::uint64_t stride = 4 << 20;

// At 10 ms a request, 32 MiB are 3 GB/s.
constexpr std::uint64_t first_window = 2 << 20;
constexpr std::uint64_t largest_window = 32 << 20;

/// How much is let go of at a time: as much again stays, so that what is being sent is not.
constexpr std::uint64_t batch = 8 << 20;

/// The page cache keeps files in pieces of up to this size. It maps them whole where it can, and
/// drops only whole ones.
constexpr std::uint64_t largest_folio = 2 << 20;

}  // namespace

bool Paging::Recent::add(const Range& range) noexcept {
    // Readers of several tensors take turns, so the one to join is among the last few.
    for (std::size_t i = count_; i > 0 && i + 8 > count_; --i) {
        Range& known = ranges_[i - 1];
        if (known.shard != range.shard || range.begin > known.end || range.end < known.begin) continue;
        nbytes_ -= known.end - known.begin;
        known.begin = std::min(known.begin, range.begin);
        known.end = std::max(known.end, range.end);
        nbytes_ += known.end - known.begin;
        return true;
    }
    if (count_ == ranges_.size()) return false;
    ranges_[count_++] = range;
    nbytes_ += range.end - range.begin;
    return true;
}

Paging::Paging(const std::vector<Shard>& shards, Cache cache, bool active)
    : shards_(shards), cache_(cache), active_(active), is_slow_(std::make_unique<std::atomic<bool>[]>(shards.size())) {}

template <typename Work>
bool Paging::watch(const Content::Piece& piece, const Work& work) noexcept {
    std::atomic<bool>& is_slow = is_slow_[number(*piece.shard)];
    // Pages are waited for one after the other; this asks for all of them first.
    const bool was_slow = is_slow.load(std::memory_order_relaxed);
    if (was_slow) piece.shard->read_ahead(piece.offset, piece.shard_nbytes);
    const long sleeps = times_asleep();
    const Clock::time_point start = Clock::now();
    if (!work()) return false;
    const bool had_to_wait = Clock::now() - start > slow && times_asleep() != sleeps;
    if (had_to_wait != was_slow) is_slow.store(had_to_wait, std::memory_order_relaxed);
    // Small READs at random places are many, and would wait for each other here for nothing.
    if (!had_to_wait && !was_slow && prefers_copy(piece)) return true;
    const std::lock_guard lock(mutex_);
    Stream& stream = stream_of(piece);
    if (!had_to_wait) {
        stream.waits -= stream.waits != 0 ? 1U : 0U;
    } else if (++stream.waits == most_waits) {
        stream.is_slow = true;
    }
    return true;
}

bool Paging::fetch(const Content::Piece& piece) noexcept {
    if (!active_) return true;
    return watch(piece, [&] { return piece.shard->populate(piece.offset, piece.shard_nbytes); });
}

bool Paging::copy(const Content::Piece& piece, std::byte* out) noexcept {
    if (!active_ || piece.shard == nullptr) return piece.copy_to(out);
    return watch(piece, [&] { return piece.copy_to(out); });
}

Paging::Stream& Paging::stream_of(const Content::Piece& piece) noexcept {
    const std::uint64_t slice_end = piece.offset + piece.shard_nbytes + piece.rest;
    // Slices are of any size: their ends, multiplied by a large odd number, are spread well.
    const std::uint64_t hash = (slice_end + number(*piece.shard)) * 0x9E3779B97F4A7C15;
    Stream& stream = streams_[hash >> 58];
    if (stream.shard != piece.shard || stream.slice_end != slice_end) {
        stream = {piece.shard, slice_end, piece.offset, 0, first_window, 0, false};
    }
    return stream;
}

/// What to ask the disk for, now that a piece was sent; empty if nothing.
Paging::Range Paging::next_window(const Content::Piece& piece) noexcept {
    Stream& stream = stream_of(piece);
    const std::uint64_t end = piece.offset + piece.shard_nbytes;
    const bool goes_on = piece.offset <= stream.at + stride && end + stride >= stream.at;
    if (!goes_on) {
        stream = {stream.shard, stream.slice_end, end, 0, first_window, 0, false};
        return {};
    }
    stream.at = std::max(stream.at, end);
    if (!stream.is_slow || stream.ahead > stream.at + stream.window / 2) return {};
    const std::uint64_t begin = std::max(stream.ahead, stream.at);
    stream.ahead = std::min(begin + stream.window, stream.slice_end);
    stream.window = std::min(stream.window * 2, largest_window);
    return {piece.shard, begin, stream.ahead};
}

void Paging::sent(const Content::Piece& piece) noexcept {
    if (!active_) return;
    // What a copy took from the page cache was not mapped, but is to be dropped if it is not kept.
    const bool is_kept = prefers_copy(piece) && cache_ == Cache::keep;
    if (is_kept && !is_slow_[number(*piece.shard)].load(std::memory_order_relaxed)) return;
    const std::uint64_t begin = piece.offset / largest_folio * largest_folio;
    const std::uint64_t end = (piece.offset + piece.shard_nbytes + largest_folio - 1) / largest_folio * largest_folio;
    const Range range{piece.shard, begin, std::min(end, piece.shard->size())};
    Range wanted;
    std::optional<Recent> released;
    {
        const std::lock_guard lock(mutex_);
        wanted = next_window(piece);
        if (!is_kept && (now_.nbytes() >= batch || !now_.add(range))) {
            released = before_;
            before_ = now_;
            now_.clear();
            static_cast<void>(now_.add(range));
        }
    }
    if (wanted.begin < wanted.end) wanted.shard->read_ahead(wanted.begin, wanted.end - wanted.begin);
    if (released) release(*released);
}

void Paging::release(const Recent& recent) const noexcept {
    for (const Range& range : recent) {
        range.shard->let_go(range.begin, range.end - range.begin);
        if (cache_ == Cache::keep) continue;
        range.shard->drop_cached(range.begin, range.end - range.begin);
    }
}

}  // namespace tensorfs
