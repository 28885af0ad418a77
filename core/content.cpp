#include "core/content.hpp"

#include <algorithm>
#include <utility>

namespace tensorfs {

Content& Content::add(Bytes bytes) {
    if (bytes->empty()) return *this;
    size_ += bytes->size();
    segments_.push_back({size_, std::move(bytes)});
    return *this;
}

Content& Content::add(const Slice& slice) {
    if (slice.nbytes == 0) return *this;
    size_ += slice.nbytes;
    if (!segments_.empty()) {
        auto* const before = std::get_if<Slice>(&segments_.back().what);
        if (before != nullptr && before->shard == slice.shard && before->offset + before->nbytes == slice.offset) {
            before->nbytes += slice.nbytes;
            segments_.back().end = size_;
            return *this;
        }
    }
    segments_.push_back({size_, slice});
    return *this;
}

void Content::gather(std::uint64_t offset, std::uint64_t nbytes, const std::vector<Shard>& shards,
                     std::vector<Piece>& pieces) const {
    if (offset >= size_) return;
    const std::uint64_t end = offset + std::min(nbytes, size_ - offset);
    auto segment = std::upper_bound(segments_.begin(), segments_.end(), offset,
                                    [](std::uint64_t at, const Segment& s) { return at < s.end; });
    for (; offset < end; ++segment) {
        const std::uint64_t begin = segment == segments_.begin() ? 0 : std::prev(segment)->end;
        const std::uint64_t within = offset - begin;
        const std::uint64_t take = std::min(end, segment->end) - offset;
        if (const auto* bytes = std::get_if<Bytes>(&segment->what)) {
            pieces.push_back({reinterpret_cast<const std::byte*>((*bytes)->data()) + within, take, nullptr, 0, 0});
        } else {
            const auto& slice = std::get<Slice>(segment->what);
            const Shard& shard = shards[slice.shard];
            pieces.push_back({shard.bytes().data() + slice.offset + within, take, &shard, slice.offset + within,
                              slice.nbytes - within - take});
        }
        offset += take;
    }
}

}  // namespace tensorfs
