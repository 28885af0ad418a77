#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/tensors/dtype.hpp"
#include "core/tensors/gather.hpp"
#include "core/tensors/gather_windows.hpp"
#include "core/tensors/read_at.hpp"
#include "core/tensors/shard.hpp"
#include "core/tensors/tensor.hpp"

namespace tensorfs {

/// Bytes of a shard: `nbytes` from `offset` on, counted from the start of the file.
struct Slice {
    std::uint32_t shard;
    std::uint64_t offset;
    std::uint64_t nbytes;
};

/// What a file of the mount holds: a list of segments, one behind the other. A segment is bytes that
/// we made, a slice of a shard, or elements of a shard that are computed while they are read: converted to
/// another type, gathered by their strides, or both. Every file is one, and reading it is gathering a range. Immutable
/// once built; movable.
class Content {
public:
    /// The elements of a strided tensor, row-major.
    struct Scattered {
        Gather elements;
        const void* dims;  // what tells it from others of the same place
        std::uint64_t offset;
        std::uint32_t shard;
    };

    /// How a piece comes from the shard: as it lies there.
    struct AsItLies {};
    /// Each element converted; `skip` bytes of the result stand before the piece.
    struct Converted {
        Dtype dtype;  // in the shard
        Dtype to;
        std::uint32_t skip;
    };
    /// From `begin` on of the row-major elements.
    struct Gathered {
        const Scattered* from;
        std::uint64_t begin;
    };
    /// Both: `begin` counts bytes of the elements before they are converted.
    struct GatheredAndConverted {
        Gathered gathered;
        Converted converted;
    };

    /// A range of one segment.
    struct Piece {
        const std::byte* data = nullptr;  // its bytes in memory; null where they must be copied
        std::uint64_t nbytes = 0;         // how many they are
        const Shard* shard = nullptr;     // where they come from; null for bytes that we made
        // The range of the shard that it takes; empty for one that is gathered, which takes bytes here and there.
        std::uint64_t offset = 0;
        std::uint64_t shard_nbytes = 0;
        std::uint64_t rest = 0;  // bytes of the same slice of the shard that follow
        std::variant<AsItLies, Converted, Gathered, GatheredAndConverted> how;

        /// Whether its bytes stand nowhere in memory: they are computed, or the shard is not mapped.
        [[nodiscard]] bool must_be_copied() const { return data == nullptr; }
        /// Whether it takes bytes from here and there in the shard.
        [[nodiscard]] bool is_gathered() const { return how.index() >= 2; }

        /// Puts its bytes into `out`, which has room for them, without touching a mapping; false where
        /// the shard's bytes are not to be had. Takes some hundred KiB at most, whatever the size. With `windows`,
        /// what is gathered for one piece serves those that follow. Reads the shard by `reader`, if there is one.
        /// `overflows` is told of numbers that are too large for the type that they are converted to: how many became
        /// infinities.
        [[nodiscard]] bool copy_to(std::byte* out, GatherWindows* windows = nullptr, const ReadAt& reader = {},
                                   std::uint64_t* overflows = nullptr) const noexcept;
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
    /// Appends a slice of elements of this type, each converted (convert.hpp). REQUIRES: can_convert(dtype),
    /// can_convert_to(to), and the slice is whole blocks.
    Content& add_converted(const Slice& slice, Dtype dtype, Dtype to);
    /// Appends a tensor's elements, row-major. REQUIRES: the tensor's dimensions stay where they are as long as
    /// the content.
    Content& add(const Tensor& tensor);
    /// The same, each converted. REQUIRES besides: can_convert(tensor.dtype()), can_convert_to(to).
    Content& add_converted(const Tensor& tensor, Dtype to);
    /// The same, each widened to a float32.
    Content& add_widened(const Slice& slice, Dtype dtype) { return add_converted(slice, dtype, Dtype::F32); }
    Content& add_widened(const Tensor& tensor) { return add_converted(tensor, Dtype::F32); }

    /// In bytes.
    [[nodiscard]] std::uint64_t size() const { return segments_.empty() ? 0 : segments_.back().end; }
    [[nodiscard]] std::size_t segments() const { return segments_.size(); }

    /// Appends to `pieces` the range of `nbytes` from `offset` on, or what of it there is before
    /// the content's end, in order and without gaps. The pieces are valid as long as the content
    /// and the shards are and stay where they are. REQUIRES: the shards are those that the slices count.
    void gather(std::uint64_t offset, std::uint64_t nbytes, const std::vector<Shard>& shards,
                std::vector<Piece>& pieces) const;

private:
    enum class Source : std::uint8_t { made, slice, converted, gathered, gathered_and_converted };

    struct Segment {
        std::uint64_t end;    // in the content
        std::uint64_t at;     // where its bytes begin: in made_ or in the shard; of what is gathered, in scattered_
        std::uint32_t shard;  // unless made
        Source source;
        Dtype dtype;  // if converted
        Dtype to;
    };
    static_assert(sizeof(Segment) == 24);  // a checkpoint has two a tensor

    Content& add_scattered(const Tensor& tensor, Source source, std::uint64_t nbytes, Dtype to);
    [[nodiscard]] Piece piece(const Segment& segment, std::uint64_t begin, std::uint64_t within, std::uint64_t nbytes,
                              const std::vector<Shard>& shards) const;

    std::vector<Segment> segments_;
    std::vector<std::unique_ptr<const Scattered>> scattered_;  // few, if any
    std::string made_;                                         // the made bytes of all segments
};

/// Fills `into` with the content's bytes from `offset` on, for who reads without a mount. Throws Error
/// (SystemError) where a shard's bytes are not to be had, or it was changed since it was opened.
/// REQUIRES: there are as many.
void read_range(const Content& content, std::uint64_t offset, std::span<std::byte> into,
                const std::vector<Shard>& shards);

}  // namespace tensorfs
