#include "core/formats/gguf/infos.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/formats/gguf/types.hpp"

namespace tensorfs::gguf {
namespace {

constexpr std::uint64_t longest_name = 65'535;
constexpr std::uint64_t most_dims = 8;

/// Of a tensor, what its file says.
struct Info {
    std::array<std::uint64_t, most_dims> dims;  // the row first
    std::size_t rank;
    std::uint64_t type;
    std::uint64_t offset;
};

class InfoReader {
public:
    InfoReader(Window& window, std::uint64_t alignment, const HeaderOptions& options, Header& header)
        : window_(window), alignment_(alignment), options_(options), header_(header) {}

    std::vector<HeaderEntry> read(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const Info info = read_info();
            try {
                add(info);
            } catch (const Error& e) {
                if (!options_.partial) throw;
                header_.problems.push_back(e.problems().front());
            }
        }
        return std::move(entries_);
    }

private:
    [[noreturn]] void fail(Kind kind, std::string text) const {
        throw Error({kind, window_.path(), name_, std::move(text)});
    }

    Info read_info() {
        Info info{};
        window_.read(window_.number(8, "the length of a tensor's name"), name_, "a tensor's name");
        const std::uint64_t rank = window_.number(4, "a tensor's number of dims");
        if (rank > most_dims)
            fail(Kind::TensorInvalidInfo, fmt::format("it has {} dims, more than {}", rank, most_dims));
        info.rank = static_cast<std::size_t>(rank);
        for (std::size_t i = 0; i < info.rank; ++i) info.dims[i] = window_.number(8, "a tensor's dim");
        info.type = window_.number(4, "a tensor's type");
        info.offset = window_.number(8, "a tensor's offset");
        return info;
    }

    void add(const Info& info) {
        check_name();
        HeaderEntry entry;
        entry.dtype = dtype_of(info);
        entry.begin = info.offset;
        entry.end = end_of(info, entry.dtype);
        add_name(header_, entry, options_.prefix, name_);
        entry.dims_at = header_.dims.size();
        entry.rank = info.rank;
        for (std::size_t i = info.rank; i-- > 0;) header_.dims.push_back(info.dims[i]);
        entries_.push_back(entry);
    }

    void check_name() const {
        if (name_.size() > longest_name) {
            throw Error({Kind::TensorInvalidInfo, window_.path(), name_.substr(0, 200),
                         fmt::format("its name has {} bytes, more than {}", name_.size(), longest_name)});
        }
        if (!is_utf8(name_)) fail(Kind::TensorInvalidInfo, "its name is not UTF-8");
    }

    [[nodiscard]] Dtype dtype_of(const Info& info) const {
        if (const std::optional<Dtype> dtype = dtype_of_id(info.type)) return *dtype;
        const std::string_view removed = removed_type(info.type);
        fail(Kind::UnsupportedDtype,
             removed.empty()
                 ? fmt::format("its type, {}, is none that is known", info.type)
                 : fmt::format("its type, {}, was {}, which was removed from the format", info.type, removed));
    }

    /// Where its data ends, by its dims, type and offset: checked.
    [[nodiscard]] std::uint64_t end_of(const Info& info, Dtype dtype) const {
        const std::uint64_t row = info.rank == 0 ? 1 : info.dims[0];
        if (row % block_of(dtype).elements != 0) {
            fail(Kind::MisalignedSlice, fmt::format("a row of {} elements is not whole blocks of {}, as {} has them",
                                                    row, block_of(dtype).elements, to_string(dtype)));
        }
        std::uint64_t elements = 1;
        for (std::size_t i = info.rank; i-- > 0;) {
            if (info.dims[i] > INT64_MAX)
                fail(Kind::TensorInvalidInfo, fmt::format("a dim is {}, more than 2^63-1", info.dims[i]));
            if (__builtin_mul_overflow(elements, info.dims[i], &elements))
                fail(Kind::ValidationOverflow, "the product of its dims does not fit 64 bits");
        }
        const std::optional<std::uint64_t> nbytes = nbytes_of(dtype, elements);
        std::uint64_t end = 0;
        if (!nbytes) fail(Kind::ValidationOverflow, "its size in bytes does not fit 64 bits");
        if (__builtin_add_overflow(info.offset, *nbytes, &end))
            fail(Kind::ValidationOverflow, "the place where it ends does not fit 64 bits");
        if (info.offset % alignment_ != 0) {
            fail(Kind::InvalidOffset,
                 fmt::format("it begins at byte {} of the data, which is no multiple of the alignment, {}", info.offset,
                             alignment_));
        }
        return end;
    }

    Window& window_;
    std::uint64_t alignment_;
    const HeaderOptions& options_;
    Header& header_;
    std::vector<HeaderEntry> entries_;
    std::string name_;  // of the tensor that is read
};

}  // namespace

std::vector<HeaderEntry> read_infos(Window& window, std::uint64_t count, std::uint64_t alignment,
                                    const HeaderOptions& options, Header& header) {
    return InfoReader(window, alignment, options, header).read(count);
}

}  // namespace tensorfs::gguf
