#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/descriptor.hpp"
#include "core/tensors/shard.hpp"
#include "fs/paging/asking_ahead.hpp"
#include "fs/paging/streams.hpp"

namespace tensorfs {

/// Reads shards that lie far away (Shard::is_distant), in order: each stream (streams.hpp) through a descriptor of its
/// own, one READ at a time, and ahead where that pays (asking_ahead.hpp). It has no threads: who waits for bytes reads
/// them, and those who come later in the same stream wait for it. A server that hangs thus keeps only them waiting.
///
/// A descriptor by which reading failed is given up, and a new one tried: on some filesystems, one that was opened
/// before the server went away is of no use once it is back. Thread-safe.
class DistantReader {
public:
    /// `shards` must outlive it and not move.
    explicit DistantReader(const std::vector<Shard>& shards);

    /// Fills `into` with the bytes of `range`, as many as it has. `slice_end` is where the slice of the shard ends that
    /// it is part of: nothing behind is asked for. False if the bytes are not to be had. REQUIRES: the shard is open.
    [[nodiscard]] bool read(const ShardRange& range, std::uint64_t slice_end, std::span<std::byte> into) noexcept;

private:
    static constexpr std::size_t nobody = ~std::size_t{0};

    /// What a stream reads through. Whoever has its turn may use it, and nobody else.
    struct Way {
        Descriptor own;  // empty: the shard's
        bool needs_own = true;
        std::uint64_t asked_end = 0;
        std::uint64_t window = 0;
    };

    /// Makes the way of a stream that begins in another shard than before. Returns what it has read through so far.
    [[nodiscard]] Descriptor give_way(std::size_t stream, std::size_t shard) noexcept;
    [[nodiscard]] bool read_through(Way& way, const ShardRange& range, std::span<std::byte> into) noexcept;
    void ask_ahead(Way& way, const ShardRange& range, std::uint64_t slice_end,
                   std::uint64_t largest_window) const noexcept;
    [[nodiscard]] bool read_beside(const ShardRange& range, std::span<std::byte> into) const noexcept;

    const std::vector<Shard>& shards_;
    std::vector<bool> may_ask_ahead_;  // by shard

    std::mutex mutex_;  // guards what follows, but for the ways
    std::condition_variable has_read_;
    Streams streams_;
    AskingAhead asking_ahead_;
    std::vector<std::size_t> uses_own_;  // by shard: the stream that reads through its own descriptor

    std::array<Way, Streams::most> ways_;
};

}  // namespace tensorfs
