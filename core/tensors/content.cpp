#include "core/tensors/content.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"
#include "core/tensors/convert.hpp"
#include "core/tensors/strided_tensor.hpp"

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
        segments_.push_back({end, at, 0, Source::made, {}, {}});
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
    segments_.push_back({end, slice.offset, slice.shard, Source::slice, {}, {}});
    return *this;
}

Content& Content::add_converted(const Slice& slice, Dtype dtype, Dtype to) {
    if (slice.nbytes == 0) return *this;
    const Block unit = block_of(dtype);
    const std::uint64_t elements = slice.nbytes / unit.nbytes * unit.elements;
    segments_.push_back(
        {size() + elements * block_of(to).nbytes, slice.offset, slice.shard, Source::converted, dtype, to});
    return *this;
}

Content& Content::add(const Tensor& tensor) {
    if (tensor.is_strided()) return add_scattered(tensor, Source::gathered, tensor.nbytes(), tensor.dtype());
    return add(Slice{tensor.shard(), tensor.offset(), tensor.nbytes()});
}

Content& Content::add_converted(const Tensor& tensor, Dtype to) {
    if (tensor.is_strided()) {
        return add_scattered(tensor, Source::gathered_and_converted, tensor.elements() * block_of(to).nbytes, to);
    }
    return add_converted(Slice{tensor.shard(), tensor.offset(), tensor.nbytes()}, tensor.dtype(), to);
}

Content& Content::add_scattered(const Tensor& tensor, Source source, std::uint64_t nbytes, Dtype to) {
    if (nbytes == 0) return *this;
    const std::uint64_t at = scattered_.size();
    scattered_.push_back(std::make_unique<const Scattered>(
        Scattered{Gather(strided_of(tensor)), tensor.shape().data(), tensor.offset(), tensor.shard()}));
    segments_.push_back({size() + nbytes, at, tensor.shard(), source, tensor.dtype(), to});
    return *this;
}

namespace {

/// Of elements that are converted: the range of their own bytes, in whole blocks, that gives a range of the result.
struct Unconverted {
    std::uint64_t begin;
    std::uint64_t nbytes;
    std::uint32_t skip;  // bytes of the result that these give before the range

    Unconverted(Dtype dtype, Dtype to, std::uint64_t within, std::uint64_t wanted) {
        const Block unit = block_of(dtype);
        const std::uint64_t group = std::uint64_t{unit.elements} * block_of(to).nbytes;  // bytes of the result
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
        case Source::converted: {
            const Unconverted range(segment.dtype, segment.to, within, nbytes);
            piece.offset = segment.at + range.begin;
            piece.shard_nbytes = range.nbytes;
            piece.rest = Unconverted(segment.dtype, segment.to, 0, size).nbytes - range.begin - range.nbytes;
            piece.how = Converted{segment.dtype, segment.to, range.skip};
            break;
        }
        case Source::gathered: piece.how = Gathered{scattered_[segment.at].get(), within}; break;
        case Source::gathered_and_converted: {
            const Unconverted range(segment.dtype, segment.to, within, nbytes);
            piece.how = GatheredAndConverted{{scattered_[segment.at].get(), range.begin},
                                             {segment.dtype, segment.to, range.skip}};
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

/// Converts what `read(offset, into)` gives from 0 on, block by block, into the `nbytes` of `out`, and counts
/// overflows in whole blocks.
template <typename Read>
bool copy_converted(const Content::Converted& how, std::byte* out, std::uint64_t nbytes, std::uint64_t* overflows,
                    const Read& read) noexcept {
    // Small enough to stay in the processor's caches; no block has more bytes than a float64 for each element.
    constexpr std::size_t most_elements = 4096;
    std::array<std::byte, most_elements * sizeof(double)> packed;
    alignas(float) std::array<std::byte, most_elements * sizeof(float)> converted;
    const Block unit = block_of(how.dtype);
    const std::uint64_t group = std::uint64_t{unit.elements} * block_of(how.to).nbytes;
    std::uint64_t from = 0;
    std::uint64_t before = how.skip;
    for (std::uint64_t left = nbytes; left > 0;) {
        const std::uint64_t groups =
            std::min<std::uint64_t>((before + left + group - 1) / group, most_elements / unit.elements);
        if (!read(from, std::span(packed.data(), groups * unit.nbytes))) return false;
        const std::uint64_t found = convert(how.dtype, packed.data(), groups * unit.elements, how.to, converted.data());
        if (overflows != nullptr) *overflows += found;
        const std::uint64_t take = std::min<std::uint64_t>(left, groups * group - before);
        std::memcpy(out, converted.data() + before, take);
        out += take;
        left -= take;
        from += groups * unit.nbytes;
        before = 0;
    }
    return true;
}

bool gather_into(const Content::Gathered& how, std::uint64_t at, std::span<std::byte> into, const Shard& shard,
                 GatherWindows* windows, const ReadAt& reader) noexcept {
    const Content::Scattered& from = *how.from;
    const std::uint64_t begin = how.begin + at;
    if (windows == nullptr) return from.elements.read(begin, into, reader);
    return windows->read(from.elements, {&shard, from.dims, from.offset}, begin, into, reader);
}

}  // namespace

bool Content::Piece::copy_to(std::byte* out, GatherWindows* windows, const ReadAt& reader,
                             std::uint64_t* overflows) const noexcept {
    if (shard == nullptr) {
        std::memcpy(out, data, nbytes);
        return true;
    }
    if (!reader) {
        const auto read = [shard = shard](std::uint64_t from, std::span<std::byte> into) {
            return shard->copy(from, into);
        };
        return copy_to(out, windows, read, overflows);
    }
    if (const auto* const converted = std::get_if<Converted>(&how)) {
        return copy_converted(*converted, out, nbytes, overflows, [&](std::uint64_t from, std::span<std::byte> into) {
            return reader(offset + from, into);
        });
    }
    if (const auto* const gathered = std::get_if<Gathered>(&how))
        return gather_into(*gathered, 0, {out, nbytes}, *shard, windows, reader);
    if (const auto* const both = std::get_if<GatheredAndConverted>(&how)) {
        return copy_converted(both->converted, out, nbytes, overflows,
                              [&](std::uint64_t from, std::span<std::byte> into) {
                                  return gather_into(both->gathered, from, into, *shard, windows, reader);
                              });
    }
    return reader(offset, {out, nbytes});
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
