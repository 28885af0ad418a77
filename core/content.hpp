#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/shard.hpp"

namespace tensorfs {

/// Bytes that we made, such as a listing or a made header.
using Bytes = std::shared_ptr<const std::string>;

/// Bytes of a shard: `nbytes` from `offset` on, counted from the start of the file.
struct Slice {
    std::uint32_t shard;
    std::uint64_t offset;
    std::uint64_t nbytes;
};

/// What a file of the mount holds: a short list of segments, one behind the other. Every file is
/// one, and reading it is gathering a range. Immutable once built.
class Content {
public:
    /// A range of one segment, as memory. `shard` is null for bytes that we made; else the memory
    /// belongs to its mapping, `offset` bytes from the start, and `rest` bytes of the same slice
    /// follow it.
    struct Piece {
        const std::byte* data;
        std::uint64_t nbytes;
        const Shard* shard;
        std::uint64_t offset;
        std::uint64_t rest;
    };

    /// Appends made bytes.
    Content& add(Bytes bytes);
    /// Appends a slice; one that continues the slice before it becomes a part of that.
    Content& add(const Slice& slice);

    /// In bytes.
    [[nodiscard]] std::uint64_t size() const { return size_; }
    [[nodiscard]] std::size_t segments() const { return segments_.size(); }

    /// Appends to `pieces` the range of `nbytes` from `offset` on, or what of it there is before
    /// the content's end, in order and without gaps. The pieces are valid as long as the content
    /// and the shards are. REQUIRES: the shards are mapped, and are those that the slices count.
    void gather(std::uint64_t offset, std::uint64_t nbytes, const std::vector<Shard>& shards,
                std::vector<Piece>& pieces) const;

private:
    struct Segment {
        std::uint64_t end;  // in the file
        std::variant<Bytes, Slice> what;
    };

    std::vector<Segment> segments_;
    std::uint64_t size_ = 0;
};

}  // namespace tensorfs
