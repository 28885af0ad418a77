#include "fs/paging/streams.hpp"

#include <algorithm>

namespace tensorfs {
namespace {

/// A stream that was not read on for so long is somebody's who has stopped, or who reads at random.
constexpr std::chrono::milliseconds linger{20};
constexpr std::chrono::seconds linger_if_steady{2};

}  // namespace

Streams::Place Streams::wait_for(const Stream& stream) noexcept {
    return {Turn::waits, 0, stream.is_busy ? Clock::time_point::max() : stream.used + patience, false};
}

Streams::Place Streams::place(const ShardRange& range, Clock::time_point now) noexcept {
    const Stream* overtaken = nullptr;
    for (std::size_t i = 0; i < most; ++i) {
        Stream& stream = streams_[i];
        if (!stream.is_of(range)) continue;
        if (range.begin >= stream.begin && range.end <= stream.position && range.begin + tolerance >= stream.position)
            return {};
        if (range.begin <= stream.position && range.end > stream.position && range.begin >= stream.begin) {
            if (stream.is_busy) return wait_for(stream);
            stream.is_busy = true;
            stream.has_ended = false;
            stream.position = range.end;
            ++stream.steps;
            return {Turn::goes_on, i, {}, false};
        }
        const bool is_ahead = range.begin > stream.position && range.begin <= stream.position + tolerance;
        const bool is_live = stream.is_busy || now < stream.used + patience;
        if (is_ahead && is_live && stream.steps != 0) overtaken = &stream;
    }
    return overtaken != nullptr ? wait_for(*overtaken) : begin(range, now);
}

bool Streams::is_to_spare(const Stream& stream, Clock::time_point now) noexcept {
    if (stream.is_busy) return false;
    if (stream.has_ended) return true;
    return now >= stream.used + (stream.steps != 0 ? Clock::duration(linger_if_steady) : Clock::duration(linger));
}

Streams::Place Streams::begin(const ShardRange& range, Clock::time_point now) noexcept {
    // From the best: one of this shard that nobody needs, one never used, one of another shard that nobody needs, any
    // that is not busy; among equals, the one that was used longest ago.
    const auto rank = [&](const Stream& stream) {
        if (stream.is_busy) return 4;
        if (!stream.is_used) return 1;
        if (!is_to_spare(stream, now)) return 3;
        return stream.shard == range.shard ? 0 : 2;
    };
    const auto best = std::min_element(streams_.begin(), streams_.end(), [&](const Stream& a, const Stream& b) {
        const int rank_a = rank(a);
        const int rank_b = rank(b);
        return rank_a != rank_b ? rank_a < rank_b : a.used < b.used;
    });
    if (best->is_busy) return {};
    const bool is_another_shard = !best->is_of(range);
    *best = {true, true, false, range.shard, range.begin, range.end, 0, now};
    return {Turn::begins, static_cast<std::size_t>(best - streams_.begin()), {}, is_another_shard};
}

void Streams::end(std::size_t stream, bool is_good, bool ends_slice, Clock::time_point now) noexcept {
    Stream& ended = streams_[stream];
    ended.is_busy = false;
    ended.has_ended = ends_slice || !is_good;
    ended.used = now;
    if (!is_good) {
        ended.begin = ended.position = ~std::uint64_t{0};
        ended.steps = 0;
    }
}

}  // namespace tensorfs
