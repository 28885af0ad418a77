#pragma once

// Tensors whose elements do not lie row-major: transposed, permuted, column-major, sliced or expanded. They
// are read row-major all the same, gathered from where they lie.
//
// No mapping is touched: a range is read in pieces by who calls, which for a shard is Shard::copy(), so that
// a file that was cut short is an error and no signal. Elements far apart cost a read each, of about half a
// microsecond, however few bytes they have; so those that are near are read in one piece with what lies
// between them, and a piece serves as many elements as the asked range has use for.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/tensors/read_at.hpp"

namespace tensorfs {

/// Where a tensor's elements lie: index (i, j, …) at offset + (i·strides[0] + j·strides[1] + …)·itemsize.
struct Strided {
    std::vector<std::uint64_t> shape;    // in elements, outermost first
    std::vector<std::uint64_t> strides;  // in elements, as many; any where the dimension is 1
    std::uint64_t itemsize;              // bytes of an element; at least 1
    std::uint64_t offset;                // bytes from the start of the file to the element of index 0
};

/// Bytes of a file: from `begin` up to `end`.
struct FileRange {
    std::uint64_t begin;
    std::uint64_t end;
};

/// The fewest bytes of a file of that size that hold all elements; empty for a tensor of none. Nothing where
/// they do not fit the file, or the row-major bytes do not fit 64 bits.
/// REQUIRES: as many strides as dimensions.
std::optional<FileRange> extent(const Strided& tensor, std::uint64_t file_size);

/// Whether the elements lie row-major and without gaps, so that the tensor is a slice. So do those of a
/// tensor of no elements.
bool is_row_major(const Strided& tensor);

/// Reads a strided tensor row-major. A plain value, without what it reads from; any thread may use it.
class Gather {
public:
    /// REQUIRES: extent() gives a range.
    explicit Gather(const Strided& tensor);

    /// Of the row-major result.
    [[nodiscard]] std::uint64_t nbytes() const noexcept { return nbytes_; }

    /// Whether neighbours in the result lie so far apart that each is a read of its own, unless much is read at
    /// once.
    [[nodiscard]] bool is_scattered() const noexcept;

    /// Bytes of the result that are best read together: a multiple of its rows, or `most` where
    /// a row is larger. A row in part costs as many reads as many rows whole.
    [[nodiscard]] std::uint64_t window(std::uint64_t most) const noexcept;

    /// Fills `out` with the row-major bytes from `begin` on, any range. False where the reader says so, or
    /// there is no memory: it takes 256 KiB. REQUIRES: begin + out.size() <= nbytes().
    [[nodiscard]] bool read(std::uint64_t begin, std::span<std::byte> out, const ReadAt& reader) const noexcept;

private:
    struct Dim {
        std::uint64_t size;    // more than 1
        std::uint64_t stride;  // bytes
        std::uint64_t inner;   // bytes of the result that one index takes
    };

    std::vector<Dim> dims_;  // those that do not continue each other, outermost first
    std::uint64_t run_;      // bytes that lie together, as in the result
    std::uint64_t offset_;
    std::uint64_t nbytes_;
};

}  // namespace tensorfs
