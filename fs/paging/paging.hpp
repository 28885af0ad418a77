#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/tensors/content.hpp"
#include "core/tensors/gather_windows.hpp"
#include "core/tensors/shard.hpp"
#include "fs/options/cache_mode.hpp"
#include "fs/options/read_order.hpp"
#include "fs/paging/distant_reader.hpp"
#include "fs/paging/read_ahead.hpp"
#include "fs/paging/release_queue.hpp"
#include "fs/paging/shard_range.hpp"

namespace tensorfs {

/// What is done about a model's pages before and after each READ. Thread-safe.
///
/// Before: what the READ asks for is brought into memory at once. Where the disk is slow (slow_disk.hpp), the rest of
/// the tensor is asked for ahead of its readers (read_ahead.hpp), so that the disk is busy while they are.
///
/// Shards that lie far away are read in order (distant_reader.hpp), into the reply.
///
/// After: pages that were sent are released some MiB later (release_queue.hpp), so that the daemon's resident set stays
/// small however much streams through. With once and direct they are dropped from the page cache, too.
class Paging {
public:
    /// `shards` must outlive it and not move. Unless `active`, it does nothing at all: pages come as they are touched,
    /// and stay.
    Paging(const std::vector<Shard>& shards, Cache cache, ReadOrder order, bool active);

    /// Whether to copy a piece instead of sending it from the mapping: for up to 64 KiB, mapping the pages and
    /// releasing them again would take longer; and what lies far away is read in order, which no mapping does.
    [[nodiscard]] bool prefers_copy(const Content::Piece& piece) const noexcept {
        return active_ && piece.shard->is_open() && (piece.shard_nbytes <= longest_copy || is_in_order(*piece.shard));
    }
    /// Brings a shard's piece into memory. False if its bytes cannot be read.
    [[nodiscard]] bool fetch(const Content::Piece& piece) noexcept;
    /// Copies a piece's bytes into `out` (Content::Piece::copy_to). False if they cannot be read.
    [[nodiscard]] bool copy(const Content::Piece& piece, std::byte* out) noexcept;
    /// A shard's piece has been sent: reads ahead and releases what is due.
    void sent(const Content::Piece& piece) noexcept;

private:
    [[nodiscard]] bool is_in_order(const Shard& shard) const noexcept {
        return order_ == ReadOrder::kept || (order_ == ReadOrder::automatic && shard.is_distant());
    }

    static constexpr std::uint64_t longest_copy = 64 << 10;

    [[nodiscard]] ShardRange range_of(const Content::Piece& piece) const noexcept;
    [[nodiscard]] bool copy_from_afar(const Content::Piece& piece, std::byte* out) noexcept;
    /// Runs `read`, which reads the piece, and notes whether it blocked.
    template <typename Read>
    [[nodiscard]] bool watch(const Content::Piece& piece, const Read& read) noexcept;
    void release(const ReleaseQueue::Batch& batch) const noexcept;

    const std::vector<Shard>& shards_;
    Cache cache_;
    ReadOrder order_;
    bool active_;
    std::unique_ptr<std::atomic<bool>[]> has_blocked_;  // by shard: its last READ did

    GatherWindows windows_;
    DistantReader distant_reader_;

    std::mutex mutex_;  // guards what follows
    ReadAhead read_ahead_;
    ReleaseQueue release_queue_;
};

}  // namespace tensorfs
