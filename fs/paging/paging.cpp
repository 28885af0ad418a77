#include "fs/paging/paging.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "fs/paging/slow_disk.hpp"

namespace tensorfs {
namespace {

/// The page cache keeps files in pieces of up to this size. It maps them whole where it can, and drops only whole ones.
constexpr std::uint64_t largest_folio = 2 << 20;

/// Where the slice of the shard ends that a piece is part of.
std::uint64_t slice_end(const Content::Piece& piece) { return piece.offset + piece.shard_nbytes + piece.rest; }

/// `range` made larger, to whole folios.
ShardRange whole_folios(const ShardRange& range, std::uint64_t shard_size) {
    const std::uint64_t end = (range.end + largest_folio - 1) / largest_folio * largest_folio;
    return {range.shard, range.begin / largest_folio * largest_folio, std::min(end, shard_size)};
}

}  // namespace

Paging::Paging(const std::vector<Shard>& shards, Cache cache, ReadOrder order, bool active)
    : shards_(shards),
      cache_(cache),
      order_(order),
      active_(active),
      has_blocked_(std::make_unique<std::atomic<bool>[]>(shards.size())),
      distant_reader_(shards) {}

ShardRange Paging::range_of(const Content::Piece& piece) const noexcept {
    return {static_cast<std::size_t>(piece.shard - shards_.data()), piece.offset, piece.offset + piece.shard_nbytes};
}

template <typename Read>
bool Paging::watch(const Content::Piece& piece, const Read& read) noexcept {
    const ShardRange range = range_of(piece);
    std::atomic<bool>& last_blocked = has_blocked_[range.shard];
    const bool did_block = last_blocked.load(std::memory_order_relaxed);
    // Pages are waited for one after the other; this asks for all of them first.
    if (did_block) piece.shard->read_ahead(range.begin, range.nbytes());
    const DiskStopwatch stopwatch;
    if (!read()) return false;
    const bool has_blocked = stopwatch.has_blocked();
    if (has_blocked != did_block) last_blocked.store(has_blocked, std::memory_order_relaxed);
    // Small READs at random places are many, and would wait for each other here for nothing.
    if (!has_blocked && !did_block && prefers_copy(piece)) return true;
    const std::lock_guard lock(mutex_);
    read_ahead_.count(range, slice_end(piece), has_blocked);
    return true;
}

bool Paging::fetch(const Content::Piece& piece) noexcept {
    if (!active_) return true;
    return watch(piece, [&] { return piece.shard->populate(piece.offset, piece.shard_nbytes); });
}

bool Paging::copy(const Content::Piece& piece, std::byte* out) noexcept {
    if (!active_ || piece.shard == nullptr) return piece.copy_to(out, &windows_);
    if (is_in_order(*piece.shard) && piece.shard->is_open()) return copy_from_afar(piece, out);
    if (piece.is_gathered()) return piece.copy_to(out, &windows_);
    return watch(piece, [&] { return piece.copy_to(out); });
}

bool Paging::copy_from_afar(const Content::Piece& piece, std::byte* out) noexcept {
    const std::size_t shard = range_of(piece).shard;
    const auto read = [&](std::uint64_t begin, std::uint64_t end, std::span<std::byte> into) {
        return distant_reader_.read({shard, begin, begin + into.size()}, end, into);
    };
    if (piece.is_gathered()) {
        return piece.copy_to(out, &windows_, [&](std::uint64_t offset, std::span<std::byte> into) {
            return read(offset, offset + into.size(), into);
        });
    }
    if (std::holds_alternative<Content::AsItLies>(piece.how))
        return read(piece.offset, slice_end(piece), {out, piece.nbytes});
    // Widened step by step, but read at once.
    std::vector<std::byte> packed;
    try {
        packed.resize(piece.shard_nbytes);
    } catch (const std::bad_alloc&) {
        return false;
    }
    if (!read(piece.offset, slice_end(piece), packed)) return false;
    return piece.copy_to(out, nullptr, [&](std::uint64_t offset, std::span<std::byte> into) {
        std::memcpy(into.data(), packed.data() + (offset - piece.offset), into.size());
        return true;
    });
}

void Paging::sent(const Content::Piece& piece) noexcept {
    if (!active_ || piece.is_gathered()) return;
    const ShardRange range = range_of(piece);
    // A copy mapped no pages; but it left some in the page cache, which only Cache::keep wants there.
    const bool has_nothing_to_release = prefers_copy(piece) && cache_ == Cache::keep;
    const bool is_distant = is_in_order(*piece.shard) && piece.shard->is_open();
    if (has_nothing_to_release && (is_distant || !has_blocked_[range.shard].load(std::memory_order_relaxed))) return;
    ShardRange wanted;
    std::optional<ReleaseQueue::Batch> due;
    {
        const std::lock_guard lock(mutex_);
        if (!is_distant) wanted = read_ahead_.next(range, slice_end(piece));
        if (!has_nothing_to_release) due = release_queue_.add(whole_folios(range, piece.shard->size()));
    }
    if (!wanted.empty()) shards_[wanted.shard].read_ahead(wanted.begin, wanted.nbytes());
    if (due) release(*due);
}

void Paging::release(const ReleaseQueue::Batch& batch) const noexcept {
    for (const ShardRange& range : batch) {
        shards_[range.shard].let_go(range.begin, range.nbytes());
        if (cache_ != Cache::keep) shards_[range.shard].drop_cached(range.begin, range.nbytes());
    }
}

}  // namespace tensorfs
