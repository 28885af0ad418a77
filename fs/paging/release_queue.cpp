#include "fs/paging/release_queue.hpp"

#include <algorithm>

namespace tensorfs {

bool ReleaseQueue::Batch::add(const ShardRange& range) noexcept {
    // Readers of several tensors take turns, so the range to join is among the last few.
    for (std::size_t i = count_; i > 0 && i + 8 > count_; --i) {
        ShardRange& known = ranges_[i - 1];
        if (known.shard != range.shard || range.begin > known.end || range.end < known.begin) continue;
        nbytes_ -= known.nbytes();
        known.begin = std::min(known.begin, range.begin);
        known.end = std::max(known.end, range.end);
        nbytes_ += known.nbytes();
        return true;
    }
    if (count_ == ranges_.size()) return false;
    ranges_[count_++] = range;
    nbytes_ += range.nbytes();
    return true;
}

std::optional<ReleaseQueue::Batch> ReleaseQueue::add(const ShardRange& range) noexcept {
    if (filling_.nbytes() < batch_nbytes && filling_.add(range)) return std::nullopt;
    const Batch released = waiting_;
    waiting_ = filling_;
    filling_.clear();
    static_cast<void>(filling_.add(range));  // there is room in an empty one
    return released;
}

}  // namespace tensorfs
