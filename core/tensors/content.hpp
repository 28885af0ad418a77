#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensors/dtype.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs {

/// Bytes of a shard: `nbytes` from `offset` on, counted from the start of the file.
struct Slice {
    std::uint32_t shard;
    std::uint64_t offset;
    std::uint64_t nbytes;
};

/// What a file of the mount holds: a list of segments, one behind the other. A segment is bytes that
/// we made, a slice of a shard, or a slice whose elements are widened to float32. Every file is one,
/// and reading it is gathering a range. Immutable once built; movable.
class Content {
public:
    /// A range of one segment.
    struct Piece {
        const std::byte* data = nullptr;  // its bytes in memory; null where they are to be widened
        std::uint64_t nbytes = 0;         // how many they are
        const Shard* shard = nullptr;     // where they come from; null for bytes that we made
        std::uint64_t offset = 0;         // of the shard's bytes that it takes: where they begin
        std::uint64_t shard_nbytes = 0;   // and how many they are: nbytes, unless widened
        std::uint64_t rest = 0;           // bytes of the same slice of the shard that follow them
        Dtype dtype{};                    // of elements to be widened
        std::uint32_t skip = 0;           // and how many bytes of the result stand before the piece

        /// Whether its bytes are no bytes of a shard or of ours, but must be calculated.
        [[nodiscard]] bool is_widened() const { return data == nullptr; }
        /// Puts its bytes into `out`, which has room for them, without touching a mapping; false where
        /// the shard's bytes are not to be had. Takes a buffer of some KiB whatever the size.
        [[nodiscard]] bool copy_to(std::byte* out) const noexcept;
    };

    Content() = default;
    Content(Content&&) = default;
    Content& operator=(Content&&) = default;
    Content(const Content&) = delete;
    Content& operator=(const Content&) = delete;
    ~Content() = default;

    /// Appends made bytes.
    Content& add(std::string bytes);
    /// Appends a slice; one that continues the slice before it becomes a part of that.
    Content& add(const Slice& slice);
    /// Appends a slice of elements of this type, each widened to a float32. REQUIRES: it is a type that
    /// can_widen(), and the slice is whole elements.
    Content& add_widened(const Slice& slice, Dtype dtype);

    /// In bytes.
    [[nodiscard]] std::uint64_t size() const { return segments_.empty() ? 0 : segments_.back().end; }
    [[nodiscard]] std::size_t segments() const { return segments_.size(); }

    /// Appends to `pieces` the range of `nbytes` from `offset` on, or what of it there is before
    /// the content's end, in order and without gaps. The pieces are valid as long as the content
    /// and the shards are and stay where they are. REQUIRES: the shards are mapped, and are those
    /// that the slices count.
    void gather(std::uint64_t offset, std::uint64_t nbytes, const std::vector<Shard>& shards,
                std::vector<Piece>& pieces) const;

private:
    enum class Kind : std::uint8_t { made, slice, widened };

    struct Segment {
        std::uint64_t end;    // in the content
        std::uint64_t at;     // where its bytes begin: in made_, or in the shard
        std::uint32_t shard;  // unless made
        Kind kind;
        Dtype dtype;  // if widened
    };
    static_assert(sizeof(Segment) == 24);  // a checkpoint has two a tensor

    [[nodiscard]] Piece piece(const Segment& segment, std::uint64_t begin, std::uint64_t within, std::uint64_t nbytes,
                              const std::vector<Shard>& shards) const;

    std::vector<Segment> segments_;
    std::string made_;  // the made bytes of all segments
};

/// Fills `into` with the content's bytes from `offset` on, for who reads without a mount. Throws Error
/// (SystemError) where a shard's bytes are not to be had, or it was changed since it was opened.
/// REQUIRES: there are as many.
void read_range(const Content& content, std::uint64_t offset, std::span<std::byte> into,
                const std::vector<Shard>& shards);

}  // namespace tensorfs
