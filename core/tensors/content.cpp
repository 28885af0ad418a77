#include "core/tensors/content.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"
#include "core/tensors/strided_tensor.hpp"
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
    if (!segments_.empty() && segments_.back().source == Source::made) {
        segments_.back().end = end;
    } else {
        segments_.push_back({end, at, 0, Source::made, {}});
    }
    return *this;
}

Content& Content::add(const Slice& slice) {
    if (slice.nbytes == 0) return *this;
    const std::uint64_t end = size() + slice.nbytes;
    if (!segments_.empty()) {
        Segment& last = segments_.back();
        const std::uint64_t begin = segments_.size() == 1 ? 0 : segments_[segments_.size() - 2].end;
        if (last.source == Source::slice && last.shard == slice.shard && last.at + (last.end - begin) == slice.offset) {
            last.end = end;
            return *this;
        }
    }
    segments_.push_back({end, slice.offset, slice.shard, Source::slice, {}});
    return *this;
}

Content& Content::add_widened(const Slice& slice, Dtype dtype) {
    if (slice.nbytes == 0) return *this;
    const Block unit = block_of(dtype);
    const std::uint64_t elements = slice.nbytes / unit.nbytes * unit.elements;
    segments_.push_back({size() + elements * sizeof(float), slice.offset, slice.shard, Source::widened, dtype});
    return *this;
}

Content& Content::add(const Tensor& tensor) {
    if (tensor.is_strided()) return add_scattered(tensor, Source::gathered, tensor.nbytes());
    return add(Slice{tensor.shard(), tensor.offset(), tensor.nbytes()});
}

Content& Content::add_widened(const Tensor& tensor) {
    if (tensor.is_strided())
        return add_scattered(tensor, Source::gathered_and_widened, tensor.elements() * sizeof(float));
    return add_widened(Slice{tensor.shard(), tensor.offset(), tensor.nbytes()}, tensor.dtype());
}

Content& Content::add_scattered(const Tensor& tensor, Source source, std::uint64_t nbytes) {
    if (nbytes == 0) return *this;
    const std::uint64_t at = scattered_.size();
    scattered_.push_back(std::make_unique<const Scattered>(
        Scattered{Gather(strided_of(tensor)), tensor.shape().data(), tensor.offset(), tensor.shard()}));
    segments_.push_back({size() + nbytes, at, tensor.shard(), source, tensor.dtype()});
    return *this;
}

namespace {

/// Of elements that become float32s: the range of their own bytes, in whole blocks, that gives a range of the
/// result.
struct Unwidened {
    std::uint64_t begin;
    std::uint64_t nbytes;
    std::uint32_t skip;  // bytes of the result that these give before the range

    Unwidened(Dtype dtype, std::uint64_t within, std::uint64_t wanted) {
        const Block unit = block_of(dtype);
        const std::uint64_t group = std::uint64_t{unit.elements} * sizeof(float);  // bytes of the result
        const std::uint64_t first = within / group;
        const std::uint64_t last = (within + wanted + group - 1) / group;
        begin = first * unit.nbytes;
        nbytes = (last - first) * unit.nbytes;
        skip = static_cast<std::uint32_t>(within - first * group);
    }
};

}  // namespace

Content::Piece Content::piece(const Segment& segment, std::uint64_t begin, std::uint64_t within, std::uint64_t nbytes,
                              const std::vector<Shard>& shards) const {
    Piece piece;
    piece.nbytes = nbytes;
    if (segment.source == Source::made) {
        piece.data = reinterpret_cast<const std::byte*>(made_.data()) + segment.at + within;
        return piece;
    }
    piece.shard = &shards[segment.shard];
    const std::uint64_t size = segment.end - begin;
    switch (segment.source) {
        case Source::made: break;
        case Source::slice:
            piece.offset = segment.at + within;
            piece.shard_nbytes = nbytes;
            piece.rest = size - within - nbytes;
            if (piece.shard->is_mapped()) piece.data = piece.shard->bytes().data() + piece.offset;
            break;
        case Source::widened: {
            const Unwidened range(segment.dtype, within, nbytes);
            piece.offset = segment.at + range.begin;
            piece.shard_nbytes = range.nbytes;
            piece.rest = Unwidened(segment.dtype, 0, size).nbytes - range.begin - range.nbytes;
            piece.how = Widened{segment.dtype, range.skip};
            break;
        }
        case Source::gathered: piece.how = Gathered{scattered_[segment.at].get(), within}; break;
        case Source::gathered_and_widened: {
            const Unwidened range(segment.dtype, within, nbytes);
            piece.how = GatheredAndWidened{{scattered_[segment.at].get(), range.begin}, {segment.dtype, range.skip}};
            break;
        }
    }
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

namespace {

/// Widens what `read(offset, into)` gives from 0 on, block by block, into the `nbytes` of `out`.
template <typename Read>
bool copy_widened(const Content::Widened& how, std::byte* out, std::uint64_t nbytes, const Read& read) noexcept {
    // Small enough to stay in the processor's caches.
    constexpr std::size_t most_elements = 4096;
    std::array<std::byte, most_elements * 2> packed;
    std::array<float, most_elements> wide;
    const Block unit = block_of(how.dtype);
    const std::uint64_t group = std::uint64_t{unit.elements} * sizeof(float);
    std::uint64_t from = 0;
    std::uint64_t before = how.skip;
    for (std::uint64_t left = nbytes; left > 0;) {
        const std::uint64_t groups =
            std::min<std::uint64_t>((before + left + group - 1) / group, most_elements / unit.elements);
        if (!read(from, std::span(packed.data(), groups * unit.nbytes))) return false;
        widen(how.dtype, packed.data(), groups * unit.elements, wide.data());
        const std::uint64_t take = std::min<std::uint64_t>(left, groups * group - before);
        std::memcpy(out, reinterpret_cast<const std::byte*>(wide.data()) + before, take);
        out += take;
        left -= take;
        from += groups * unit.nbytes;
        before = 0;
    }
    return true;
}

bool gather_into(const Content::Gathered& how, std::uint64_t at, std::span<std::byte> into, const Shard& shard,
                 GatherWindows* windows) noexcept {
    const auto reader = [&](std::uint64_t offset, std::span<std::byte> bytes) { return shard.copy(offset, bytes); };
    const Content::Scattered& from = *how.from;
    const std::uint64_t begin = how.begin + at;
    if (windows == nullptr) return from.elements.read(begin, into, reader);
    return windows->read(from.elements, {&shard, from.dims, from.offset}, begin, into, reader);
}

}  // namespace

bool Content::Piece::copy_to(std::byte* out, GatherWindows* windows) const noexcept {
    if (shard == nullptr) {
        std::memcpy(out, data, nbytes);
        return true;
    }
    if (const auto* const widened = std::get_if<Widened>(&how)) {
        return copy_widened(*widened, out, nbytes, [&](std::uint64_t from, std::span<std::byte> into) {
            return shard->copy(offset + from, into);
        });
    }
    if (const auto* const gathered = std::get_if<Gathered>(&how))
        return gather_into(*gathered, 0, {out, nbytes}, *shard, windows);
    if (const auto* const both = std::get_if<GatheredAndWidened>(&how)) {
        return copy_widened(both->widened, out, nbytes, [&](std::uint64_t from, std::span<std::byte> into) {
            return gather_into(both->gathered, from, into, *shard, windows);
        });
    }
    return shard->copy(offset, {out, nbytes});
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
