#pragma once

#include <array>
#include <cstdint>

#include "fs/paging/shard_range.hpp"
#include "fs/paging/slow_disk.hpp"

namespace tensorfs {

/// Decides what to ask a slow disk for before anybody reads it: while reading through a slice goes on where it left
/// off, whoever reads, the bytes that follow, in windows that grow from 2 to 32 MiB and end with the slice. Knows the
/// 64 streams that were read lately, more or less. Not thread-safe, and does no I/O.
class ReadAhead {
public:
    /// A READ of `range` has ended, and blocked on the disk or not. `slice_end` is where the slice of the shard ends
    /// that the range is part of; with the shard it tells streams apart. REQUIRES: range.end <= slice_end.
    void count(const ShardRange& range, std::uint64_t slice_end, bool has_blocked) noexcept;

    /// `range` has been sent. Returns what to ask the disk for now, mostly nothing.
    [[nodiscard]] ShardRange next(const ShardRange& range, std::uint64_t slice_end) noexcept;

private:
    // At 10 ms a request, 32 MiB are 3 GB/s.
    static constexpr std::uint64_t first_window = 2 << 20;
    static constexpr std::uint64_t largest_window = 32 << 20;

    /// Reading through one slice, by any number of readers.
    struct Stream {
        bool is_used = false;
        std::size_t shard = 0;
        std::uint64_t slice_end = 0;
        std::uint64_t read_end = 0;   // up to where it was read
        std::uint64_t asked_end = 0;  // up to where the disk was asked for it
        std::uint64_t window = first_window;
        SlowDisk disk;
    };

    [[nodiscard]] Stream& stream_of(const ShardRange& range, std::uint64_t slice_end) noexcept;

    std::array<Stream, 64> streams_;
};

}  // namespace tensorfs
