#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "fs/paging/shard_range.hpp"

namespace tensorfs {

/// Puts READs of distant shards in order: which of them go on where another left off, and so belong to its stream; and
/// whose turn it is. A stream is whoever reads on through a shard, whatever tensors lie there. Each reads through a
/// descriptor of its own, one READ at a time, so that the filesystem below sees readers that never jump.
///
/// Not thread-safe, and does no I/O.
class Streams {
public:
    using Clock = std::chrono::steady_clock;

    /// All of a mount. Who comes when all are busy is not put in order.
    static constexpr std::size_t most = 32;

    /// The kernel sends several READs of a file at once, and they are answered in any order: one that lies up to this
    /// far ahead of a stream may only have overtaken another, which it then lets go first.
    static constexpr std::uint64_t tolerance = 4 << 20;
    /// How long it waits for one, while nobody reads. A READ that was overtaken comes within less than a millisecond,
    /// unless the machine is busy.
    static constexpr std::chrono::milliseconds patience{50};

    enum class Turn {
        goes_on,  // read now, through this stream
        begins,   // the same; it was at another place, or had not been used
        waits,    // for its turn: ask again once a READ of this shard has ended, or at `until`
        beside,   // read now, through no stream: it was read a moment ago, or all streams are busy
    };
    struct Place {
        Turn turn = Turn::beside;
        std::size_t stream = 0;         // unless beside
        Clock::time_point until{};      // if it waits; the greatest one: until somebody has read
        bool is_another_shard = false;  // if it begins: the stream was in another one, or in none
    };

    /// What a READ of `range` is to do. If it is to read through a stream, the stream is busy until end().
    [[nodiscard]] Place place(const ShardRange& range, Clock::time_point now) noexcept;

    /// A READ through a stream has ended. After one that failed, nobody goes on with it. `ends_slice` says that its
    /// range was the last of a tensor: who reads on there goes on, but the stream is free for others.
    void end(std::size_t stream, bool is_good, bool ends_slice, Clock::time_point now) noexcept;

    /// Whether a stream has been read on, and so is likely to be.
    [[nodiscard]] bool is_steady(std::size_t stream) const noexcept { return streams_[stream].steps != 0; }

private:
    struct Stream {
        bool is_used = false;
        bool is_busy = false;
        bool has_ended = false;
        std::size_t shard = 0;
        std::uint64_t begin = 0;
        std::uint64_t position = 0;  // the end of what was read last, or is being read
        std::uint64_t steps = 0;     // how many READs went on where another had left off
        Clock::time_point used{};

        [[nodiscard]] bool is_of(const ShardRange& range) const noexcept { return is_used && shard == range.shard; }
    };

    [[nodiscard]] static Place wait_for(const Stream& stream) noexcept;
    [[nodiscard]] static bool is_to_spare(const Stream& stream, Clock::time_point now) noexcept;
    [[nodiscard]] Place begin(const ShardRange& range, Clock::time_point now) noexcept;

    std::array<Stream, most> streams_;
};

}  // namespace tensorfs
