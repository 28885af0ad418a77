#include "fs/paging/read_ahead.hpp"

#include <algorithm>

namespace tensorfs {
namespace {

/// The kernel sends several READs of a file at once, and they are answered in any order: reading goes on where it
/// left off if it does so nearly.
constexpr std::uint64_t tolerance = 4 << 20;

}  // namespace

ReadAhead::Stream& ReadAhead::stream_of(const ShardRange& range, std::uint64_t slice_end) noexcept {
    // Slices are of any size: their ends, multiplied by a large odd number, are spread well.
    const std::uint64_t hash = (slice_end + range.shard) * 0x9E3779B97F4A7C15;
    Stream& stream = streams_[hash >> 58];
    if (!stream.is_used || stream.shard != range.shard || stream.slice_end != slice_end) {
        stream = {true, range.shard, slice_end, range.begin, 0, first_window, {}};
    }
    return stream;
}

void ReadAhead::count(const ShardRange& range, std::uint64_t slice_end, bool has_blocked) noexcept {
    stream_of(range, slice_end).disk.count(has_blocked);
}

ShardRange ReadAhead::next(const ShardRange& range, std::uint64_t slice_end) noexcept {
    Stream& stream = stream_of(range, slice_end);
    const bool goes_on = range.begin <= stream.read_end + tolerance && range.end + tolerance >= stream.read_end;
    if (!goes_on) {
        stream = {true, range.shard, slice_end, range.end, 0, first_window, {}};
        return {};
    }
    stream.read_end = std::max(stream.read_end, range.end);
    if (!stream.disk.is_slow() || stream.asked_end > stream.read_end + stream.window / 2) return {};
    const std::uint64_t begin = std::max(stream.asked_end, stream.read_end);
    stream.asked_end = std::min(begin + stream.window, slice_end);
    stream.window = std::min(stream.window * 2, largest_window);
    return {range.shard, begin, stream.asked_end};
}

}  // namespace tensorfs
