#include "core/tensors/content.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"
#include "core/tensors/widen.hpp"

namespace tensorfs {

Content& Content::add(std::string bytes) {
    if (bytes.empty()) return *this;
    const std::uint64_t at = made_.size();
    const std::uint64_t end = size() + bytes.size();
    if (made_.empty()) {
        made_ = std::move(bytes);
    } else {
        made_ += bytes;
    }
    if (!segments_.empty() && segments_.back().kind == Kind::made) {
        segments_.back().end = end;
    } else {
        segments_.push_back({end, at, 0, Kind::made, {}});
    }
    return *this;
}

Content& Content::add(const Slice& slice) {
    if (slice.nbytes == 0) return *this;
    const std::uint64_t end = size() + slice.nbytes;
    if (!segments_.empty()) {
        Segment& last = segments_.back();
        const std::uint64_t begin = segments_.size() == 1 ? 0 : segments_[segments_.size() - 2].end;
        if (last.kind == Kind::slice && last.shard == slice.shard && last.at + (last.end - begin) == slice.offset) {
            last.end = end;
            return *this;
        }
    }
    segments_.push_back({end, slice.offset, slice.shard, Kind::slice, {}});
    return *this;
}

Content& Content::add_widened(const Slice& slice, Dtype dtype) {
    if (slice.nbytes == 0) return *this;
    const Block unit = block_of(dtype);
    const std::uint64_t elements = slice.nbytes / unit.nbytes * unit.elements;
    segments_.push_back({size() + elements * sizeof(float), slice.offset, slice.shard, Kind::widened, dtype});
    return *this;
}

Content::Piece Content::piece(const Segment& segment, std::uint64_t begin, std::uint64_t within, std::uint64_t nbytes,
                              const std::vector<Shard>& shards) const {
    Piece piece;
    piece.nbytes = nbytes;
    if (segment.kind == Kind::made) {
        piece.data = reinterpret_cast<const std::byte*>(made_.data()) + segment.at + within;
        return piece;
    }
    piece.shard = &shards[segment.shard];
    const std::uint64_t size = segment.end - begin;
    if (segment.kind == Kind::slice) {
        piece.offset = segment.at + within;
        piece.shard_nbytes = nbytes;
        piece.rest = size - within - nbytes;
        piece.data = piece.shard->bytes().data() + piece.offset;
        return piece;
    }
    // In the smallest groups of elements that begin and end at whole bytes.
    const Block unit = block_of(segment.dtype);
    const std::uint64_t group = std::uint64_t{unit.elements} * sizeof(float);  // bytes of the result
    const std::uint64_t first = within / group;
    const std::uint64_t last = (within + nbytes + group - 1) / group;
    piece.offset = segment.at + first * unit.nbytes;
    piece.shard_nbytes = (last - first) * unit.nbytes;
    piece.rest = (size / group - last) * unit.nbytes;
    piece.dtype = segment.dtype;
    piece.skip = static_cast<std::uint32_t>(within - first * group);
    return piece;
}

void Content::gather(std::uint64_t offset, std::uint64_t nbytes, const std::vector<Shard>& shards,
                     std::vector<Piece>& pieces) const {
    if (offset >= size()) return;
    const std::uint64_t end = offset + std::min(nbytes, size() - offset);
    auto segment = std::upper_bound(segments_.begin(), segments_.end(), offset,
                                    [](std::uint64_t at, const Segment& s) { return at < s.end; });
    for (; offset < end; ++segment) {
        const std::uint64_t begin = segment == segments_.begin() ? 0 : std::prev(segment)->end;
        const std::uint64_t take = std::min(end, segment->end) - offset;
        pieces.push_back(piece(*segment, begin, offset - begin, take, shards));
        offset += take;
    }
}

bool Content::Piece::copy_to(std::byte* out) const noexcept {
    if (shard == nullptr) {
        std::memcpy(out, data, nbytes);
        return true;
    }
    if (!is_widened()) return shard->copy(offset, {out, nbytes});

    // Small enough to stay in the processor's caches.
    constexpr std::size_t most_elements = 4096;
    std::array<std::byte, most_elements * 2> packed;
    std::array<float, most_elements> wide;
    const Block unit = block_of(dtype);
    std::uint64_t from = offset;
    std::size_t before = skip;
    for (std::uint64_t left = nbytes; left > 0;) {
        const std::uint64_t groups = std::min<std::uint64_t>(
            (before + left + unit.elements * sizeof(float) - 1) / (unit.elements * sizeof(float)),
            most_elements / unit.elements);
        if (!shard->copy(from, {packed.data(), groups * unit.nbytes})) return false;
        widen(dtype, packed.data(), groups * unit.elements, wide.data());
        const std::uint64_t take = std::min<std::uint64_t>(left, groups * unit.elements * sizeof(float) - before);
        std::memcpy(out, reinterpret_cast<const std::byte*>(wide.data()) + before, take);
        out += take;
        left -= take;
        from += groups * unit.nbytes;
        before = 0;
    }
    return true;
}

void read_range(const Content& content, std::uint64_t offset, std::span<std::byte> into,
                const std::vector<Shard>& shards) {
    std::vector<Content::Piece> pieces;
    content.gather(offset, into.size(), shards, pieces);
    std::byte* out = into.data();
    for (const Content::Piece& piece : pieces) {
        if (!piece.copy_to(out)) {
            throw Error({Kind::SystemError, piece.shard->path(), {}, "its bytes cannot be read"});
        }
        if (piece.shard != nullptr && !piece.shard->is_unchanged()) {
            throw Error({Kind::SystemError, piece.shard->path(), {}, "it was changed while it was read"});
        }
        out += piece.nbytes;
    }
}

}  // namespace tensorfs
