#include "core/tensors/gather.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/tensors/gather_box.hpp"

namespace tensorfs {
namespace {

bool is_empty(const Strided& tensor) {
    return std::find(tensor.shape.begin(), tensor.shape.end(), 0U) != tensor.shape.end();
}

/// A range of the result, which is a box of the tensor's last dimensions, cut from whole runs.
class RangeReader {
public:
    RangeReader(std::uint64_t run, std::byte* out, const ReadAt& reader) : run_(run), out_(out), reader_(reader) {}

    /// Reads the bytes [begin, end) of what the dimensions make up, whose first run is at `offset`.
    template <typename Dims>
    bool read(Dims dims, std::uint64_t offset, std::uint64_t begin, std::uint64_t end) noexcept {
        // A range in one index of a dimension is a range in the dimensions below it.
        while (!dims.empty() && begin / dims[0].inner == (end - 1) / dims[0].inner) {
            const std::uint64_t index = begin / dims[0].inner;
            offset += index * dims[0].stride;
            begin -= index * dims[0].inner;
            end -= index * dims[0].inner;
            dims = dims.subspan(1);
        }
        if (dims.empty()) {
            const bool is_read = reader_(offset + begin, {out_, end - begin});
            out_ += end - begin;
            return is_read;
        }
        // Else it begins within an index, has whole ones, and ends within one. The stack is as deep as the
        // tensor has dimensions, at most 63 that are not 1.
        const std::uint64_t inner = dims[0].inner;
        const std::uint64_t first = (begin + inner - 1) / inner;
        const std::uint64_t last = end / inner;
        if (begin % inner != 0) {
            const std::uint64_t index = begin / inner;
            if (!read(dims.subspan(1), offset + index * dims[0].stride, begin % inner, inner)) return false;
        }
        if (first < last && !read_whole(dims, offset + first * dims[0].stride, last - first)) return false;
        return end % inner == 0 || read(dims.subspan(1), offset + last * dims[0].stride, 0, end % inner);
    }

private:
    template <typename Dims>
    bool read_whole(Dims dims, std::uint64_t offset, std::uint64_t count) noexcept {
        std::array<BoxDim, 64> box;
        std::transform(dims.begin(), dims.end(), box.begin(), [](const auto& dim) {
            return BoxDim{dim.size, dim.stride};
        });
        box[0].size = count;
        const bool is_read = copy_box({{box.data(), dims.size()}, run_, offset}, out_, reader_);
        out_ += count * dims[0].inner;
        return is_read;
    }

    std::uint64_t run_;
    std::byte* out_;
    const ReadAt& reader_;
};

}  // namespace

std::optional<FileRange> extent(const Strided& tensor, std::uint64_t file_size) {
    std::uint64_t nbytes = tensor.itemsize;
    for (const std::uint64_t size : tensor.shape) {
        if (__builtin_mul_overflow(nbytes, size, &nbytes)) return std::nullopt;
    }
    if (is_empty(tensor)) return FileRange{0, 0};
    std::uint64_t last = 0;  // the element that lies farthest behind, counted in elements
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
        std::uint64_t far = 0;
        if (tensor.shape[i] == 1) continue;
        if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &far)) return std::nullopt;
        if (__builtin_add_overflow(last, far, &last)) return std::nullopt;
    }
    std::uint64_t size = 0;
    std::uint64_t end = 0;
    if (__builtin_add_overflow(last, std::uint64_t{1}, &size)) return std::nullopt;
    if (__builtin_mul_overflow(size, tensor.itemsize, &size)) return std::nullopt;
    if (__builtin_add_overflow(tensor.offset, size, &end) || end > file_size) return std::nullopt;
    return FileRange{tensor.offset, end};
}

bool is_row_major(const Strided& tensor) {
    if (is_empty(tensor)) return true;
    std::uint64_t expected = 1;
    for (std::size_t i = tensor.shape.size(); i-- > 0;) {
        if (tensor.shape[i] == 1) continue;
        if (tensor.strides[i] != expected) return false;
        expected *= tensor.shape[i];
    }
    return true;
}

Gather::Gather(const Strided& tensor) : run_(tensor.itemsize), offset_(tensor.offset), nbytes_(tensor.itemsize) {
    // From the innermost out: a dimension that goes on where the one below it ends is a part of that.
    for (std::size_t i = tensor.shape.size(); i-- > 0;) {
        const std::uint64_t size = tensor.shape[i];
        if (size != 1) {
            const std::uint64_t stride = size == 0 ? 0 : tensor.strides[i] * tensor.itemsize;
            if (dims_.empty() && stride == run_) {
                run_ *= size;
            } else if (!dims_.empty() && stride == dims_.back().stride * dims_.back().size) {
                dims_.back().size *= size;
            } else {
                dims_.push_back({size, stride, nbytes_});
            }
        }
        nbytes_ *= size;
    }
    std::reverse(dims_.begin(), dims_.end());
}

bool Gather::is_scattered() const noexcept {
    return !dims_.empty() && run_ < gather_gap && dims_.back().stride > run_ + gather_gap;
}

std::uint64_t Gather::window(std::uint64_t most) const noexcept {
    const std::uint64_t row = dims_.empty() ? run_ : dims_.back().size * run_;
    return row == 0 || row > most ? most : most / row * row;
}

bool Gather::read(std::uint64_t begin, std::span<std::byte> out, const ReadAt& reader) const noexcept {
    if (out.empty()) return true;
    return RangeReader(run_, out.data(), reader).read(std::span<const Dim>(dims_), offset_, begin, begin + out.size());
}

}  // namespace tensorfs
