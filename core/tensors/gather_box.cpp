#include "core/tensors/gather_box.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>

namespace tensorfs {
namespace {

/// Runs of this size and more are read where they belong, each by itself.
constexpr std::uint64_t long_run = 4096;
/// What is read before it is put in order: to stay in the processor's second cache.
constexpr std::uint64_t scratch_size = 256 << 10;

constexpr std::size_t most_dims = 64;

/// A two-dimensional copy between memory and memory: `rows` and `columns` of elements of `size` bytes.
struct Plane {
    std::byte* to;
    const std::byte* from;
    std::uint64_t rows, to_row, from_row;           // how many, and bytes from one to the next
    std::uint64_t columns, to_column, from_column;  // likewise
};

/// Elements of a size that is known when this is compiled; they are aligned to nothing.
template <std::size_t size>
void copy_plane_of(const Plane& plane) {
    // So few columns at a time that the lines of the cache that they are in serve all rows.
    constexpr std::uint64_t block = 128;
    for (std::uint64_t first = 0; first < plane.columns; first += block) {
        const std::uint64_t last = std::min(plane.columns, first + block);
        for (std::uint64_t row = 0; row < plane.rows; ++row) {
            std::byte* const to = plane.to + row * plane.to_row;
            const std::byte* const from = plane.from + row * plane.from_row;
            for (std::uint64_t column = first; column < last; ++column) {
                std::memcpy(to + column * plane.to_column, from + column * plane.from_column, size);
            }
        }
    }
}

void copy_plane(const Plane& plane, std::uint64_t size) {
    switch (size) {
        case 1: return copy_plane_of<1>(plane);
        case 2: return copy_plane_of<2>(plane);
        case 4: return copy_plane_of<4>(plane);
        case 8: return copy_plane_of<8>(plane);
        case 16: return copy_plane_of<16>(plane);
        default: break;
    }
    for (std::uint64_t row = 0; row < plane.rows; ++row) {
        for (std::uint64_t column = 0; column < plane.columns; ++column) {
            std::memcpy(plane.to + row * plane.to_row + column * plane.to_column,
                        plane.from + row * plane.from_row + column * plane.from_column, size);
        }
    }
}

/// Copies a box tile by tile: each is read into the scratch in as few pieces as can be, and put in order.
class BoxCopy {
public:
    BoxCopy(const Box& box, std::byte* out, const ReadAt& reader) : box_(box), out_(out), reader_(reader) {
        std::uint64_t inner = box.run;
        for (std::size_t i = box.dims.size(); i-- > 0;) {
            dims_[i] = {box.dims[i].size, box.dims[i].stride, inner, 1, 1, 0, 0, false};
            inner *= box.dims[i].size;
        }
        count_ = box.dims.size();
    }

    bool copy() noexcept {
        if (box_.run < long_run) {
            scratch_.reset(new (std::nothrow) std::byte[scratch_size]);
            if (!scratch_) return false;
        }
        plan();
        // All tiles, the last dimension's fastest.
        do {
            if (!(scratch_ ? copy_tile() : read_run())) return false;
        } while (advance());
        return true;
    }

private:
    struct Dim {
        std::uint64_t size;
        std::uint64_t stride;   // in the file
        std::uint64_t inner;    // in the result
        std::uint64_t most;     // indices in a tile
        std::uint64_t here;     // indices in this tile, which may be the last
        std::uint64_t at;       // its first index
        std::uint64_t scratch;  // bytes in the scratch from one index to the next
        bool in_piece;          // whether its indices are read in one piece
    };

    /// How large a tile is.
    void plan() noexcept {
        if (!scratch_) return;
        for (std::size_t i = 0; i < count_; ++i) {
            if (dims_[i].stride == 0) {
                dims_[i].most = dims_[i].size;
            } else {
                order_[ordered_++] = i;
            }
        }
        std::sort(order_.begin(), order_.begin() + ordered_,
                  [&](std::size_t a, std::size_t b) { return dims_[a].stride < dims_[b].stride; });
        // Those dimensions are read in one piece whose indices are near each other.
        std::uint64_t span = box_.run;
        std::size_t next = 0;
        for (; next < ordered_; ++next) {
            Dim& dim = dims_[order_[next]];
            if (dim.stride > span + gather_gap || span > scratch_size / 2) break;
            dim.in_piece = true;
            dim.most = std::min(dim.size, (scratch_size - span) / dim.stride + 1);
            span += (dim.most - 1) * dim.stride;
            if (dim.most < dim.size) {
                ++next;
                break;
            }
        }
        // And of the others as many indices as there is room for, first of the last: they follow each other
        // in the result.
        pieces_ = next;
        std::uint64_t room = scratch_size / span;
        const auto take = [&](Dim& dim) {
            if (dim.in_piece || dim.stride == 0 || dim.most != 1) return;
            dim.most = std::min(dim.size, room);
            room /= dim.most;
        };
        take(dims_[count_ - 1]);
        for (std::size_t i = next; i < ordered_; ++i) take(dims_[order_[i]]);
        for (std::size_t i = 0; i < count_; ++i) dims_[i].here = dims_[i].most;
    }

    /// On to the next tile; false behind the last.
    bool advance() noexcept {
        for (std::size_t i = count_; i-- > 0;) {
            Dim& dim = dims_[i];
            dim.at += dim.here;
            if (dim.at < dim.size) {
                dim.here = std::min(dim.most, dim.size - dim.at);
                return true;
            }
            dim.at = 0;
            dim.here = std::min(dim.most, dim.size);
        }
        return false;
    }

    [[nodiscard]] std::uint64_t offset_here() const noexcept {
        std::uint64_t offset = box_.offset;
        for (std::size_t i = 0; i < count_; ++i) offset += dims_[i].at * dims_[i].stride;
        return offset;
    }

    [[nodiscard]] std::byte* out_here() const noexcept {
        std::byte* out = out_;
        for (std::size_t i = 0; i < count_; ++i) out += dims_[i].at * dims_[i].inner;
        return out;
    }

    bool read_run() noexcept { return reader_(offset_here(), {out_here(), box_.run}); }

    bool copy_tile() noexcept {
        std::uint64_t span = box_.run;
        for (std::size_t i = 0; i < pieces_; ++i) {
            Dim& dim = dims_[order_[i]];
            dim.scratch = dim.stride;
            span += (dim.here - 1) * dim.stride;
        }
        std::uint64_t pitch = span;
        for (std::size_t i = pieces_; i < ordered_; ++i) {
            Dim& dim = dims_[order_[i]];
            dim.scratch = pitch;
            pitch *= dim.here;
        }
        if (!read_pieces(span)) return false;
        put_in_order();
        return true;
    }

    bool read_pieces(std::uint64_t span) noexcept {
        std::array<std::uint64_t, most_dims> index{};
        std::uint64_t offset = offset_here();
        std::byte* to = scratch_.get();
        for (;;) {
            if (!reader_(offset, {to, span})) return false;
            to += span;
            std::size_t i = pieces_;
            for (; i < ordered_; ++i) {
                const Dim& dim = dims_[order_[i]];
                offset += dim.stride;
                if (++index[i] < dim.here) break;
                index[i] = 0;
                offset -= dim.here * dim.stride;
            }
            if (i == ordered_) return true;
        }
    }

    /// From the scratch into the result, in planes of the dimension that follows itself in the result, and the
    /// one that does so in the file.
    void put_in_order() noexcept {
        const std::size_t column = count_ - 1;
        std::size_t row = count_;
        for (std::size_t i = 0; i < ordered_ && row == count_; ++i) {
            if (order_[i] != column && dims_[order_[i]].here > 1) row = order_[i];
        }
        Plane plane{out_here(),          scratch_.get(),       1, 0, 0, dims_[column].here,
                    dims_[column].inner, dims_[column].scratch};
        if (row != count_) {
            plane.rows = dims_[row].here;
            plane.to_row = dims_[row].inner;
            plane.from_row = dims_[row].scratch;
        }
        std::array<std::uint64_t, most_dims> index{};
        for (;;) {
            copy_plane(plane, box_.run);
            std::size_t i = 0;
            for (; i < column; ++i) {
                const Dim& dim = dims_[i];
                if (i == row) continue;
                plane.to += dim.inner;
                plane.from += dim.scratch;
                if (++index[i] < dim.here) break;
                index[i] = 0;
                plane.to -= dim.here * dim.inner;
                plane.from -= dim.here * dim.scratch;
            }
            if (i == column) return;
        }
    }

    const Box& box_;
    std::byte* out_;
    const ReadAt& reader_;
    std::array<Dim, most_dims> dims_;
    std::size_t count_;
    std::array<std::size_t, most_dims> order_;  // the dimensions that are not expanded, the nearest first
    std::size_t ordered_ = 0;
    std::size_t pieces_ = 0;  // how many of those are read in one piece
    std::unique_ptr<std::byte[]> scratch_;
};

}  // namespace

bool copy_box(const Box& box, std::byte* out, const ReadAt& reader) noexcept {
    return BoxCopy(box, out, reader).copy();
}

}  // namespace tensorfs
