#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "fs/paging/shard_range.hpp"

namespace tensorfs {

/// Ranges that were sent lately and whose pages are to be released, in batches of about 8 MiB. A full batch waits
/// until the next one is full too, so that what is being sent right now is not released. Not thread-safe.
class ReleaseQueue {
public:
    /// Up to 256 ranges; those that overlap or touch are joined.
    class Batch {
    public:
        /// False if there is no room for it.
        bool add(const ShardRange& range) noexcept;
        [[nodiscard]] std::uint64_t nbytes() const noexcept { return nbytes_; }
        [[nodiscard]] const ShardRange* begin() const noexcept { return ranges_.data(); }
        [[nodiscard]] const ShardRange* end() const noexcept { return ranges_.data() + count_; }
        void clear() noexcept { count_ = nbytes_ = 0; }

    private:
        std::array<ShardRange, 256> ranges_;
        std::size_t count_ = 0;
        std::uint64_t nbytes_ = 0;
    };

    /// Adds a range that was sent. If that begins a new batch, returns the one to release now, empty the first time.
    [[nodiscard]] std::optional<Batch> add(const ShardRange& range) noexcept;

private:
    static constexpr std::uint64_t batch_nbytes = 8 << 20;

    Batch filling_;
    Batch waiting_;  // full, and released next
};

}  // namespace tensorfs
