#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/tensors/content.hpp"
#include "core/tensors/shard.hpp"
#include "fs/options/cache_mode.hpp"

namespace tensorfs {

/// What is done about the shards' pages before and behind each READ. Any thread may call it.
///
/// Ahead: what a READ asks for is brought into memory at once. Where the disk lets that wait, the
/// rest of the tensor is asked for in growing windows, as long as reading goes on where it left off,
/// whoever reads: the disk is busy while the reader is.
///
/// Behind: pages that were sent are let go of again, some MiB at a time, so that the daemon's
/// resident set stays small however much streams through; with once and direct they are dropped from
/// the page cache, too.
class Paging {
public:
    /// `shards` must outlive it and not move. Unless `active`, it does nothing at all: pages come as
    /// they are touched, and stay.
    Paging(const std::vector<Shard>& shards, Cache cache, bool active);

    /// Whether a piece is better copied than sent from the mapping: to map it and to let
    /// go of it again would take longer.
    [[nodiscard]] bool prefers_copy(const Content::Piece& piece) const noexcept {
        return active_ && piece.shard_nbytes <= longest_copy && piece.shard->is_open();
    }
    /// Brings a piece of a shard into memory; false if its bytes are not to be had.
    [[nodiscard]] bool fetch(const Content::Piece& piece) noexcept;
    /// Puts a piece's bytes into `out` (Content::Piece::copy_to).
    [[nodiscard]] bool copy(const Content::Piece& piece, std::byte* out) noexcept;
    /// A piece has been sent.
    void sent(const Content::Piece& piece) noexcept;

private:
    static constexpr std::uint64_t longest_copy = 64 << 10;

    /// A range of a shard.
    struct Range {
        const Shard* shard = nullptr;
        std::uint64_t begin = 0, end = 0;
    };

    /// Reading through one slice, by any number of readers.
    struct Stream {
        const Shard* shard = nullptr;
        std::uint64_t slice_end = 0;  // with the shard, which slice
        std::uint64_t at = 0;         // up to where it was read
        std::uint64_t ahead = 0;      // up to where it was asked for
        std::uint64_t window = 0;     // how much is asked for at a time
        unsigned waits = 0;           // READs that waited for the disk, less those that did not
        bool is_slow = false;         // the disk lets it wait
    };

    /// Ranges that were sent lately, neighbours joined.
    class Recent {
    public:
        /// Whether there was room for it.
        bool add(const Range& range) noexcept;
        [[nodiscard]] std::uint64_t nbytes() const noexcept { return nbytes_; }
        [[nodiscard]] const Range* begin() const noexcept { return ranges_.data(); }
        [[nodiscard]] const Range* end() const noexcept { return ranges_.data() + count_; }
        void clear() noexcept { count_ = nbytes_ = 0; }

    private:
        std::array<Range, 256> ranges_;
        std::size_t count_ = 0;
        std::uint64_t nbytes_ = 0;
    };

    [[nodiscard]] std::size_t number(const Shard& shard) const noexcept {
        return static_cast<std::size_t>(&shard - shards_.data());
    }
    /// Runs `work`, which reads the piece, and learns from it how slow the disk is.
    template <typename Work>
    [[nodiscard]] bool watch(const Content::Piece& piece, const Work& work) noexcept;
    [[nodiscard]] Stream& stream_of(const Content::Piece& piece) noexcept;
    [[nodiscard]] Range next_window(const Content::Piece& piece) noexcept;
    void release(const Recent& recent) const noexcept;

    const std::vector<Shard>& shards_;
    Cache cache_;
    bool active_;
    std::unique_ptr<std::atomic<bool>[]> is_slow_;  // by shard: it let the last READ wait

    std::mutex mutex_;  // for what follows
    std::array<Stream, 64> streams_;
    Recent now_;     // being filled
    Recent before_;  // full, and to be released next
};

}  // namespace tensorfs
