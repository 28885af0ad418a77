#include "core/formats/safetensors/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>

#include "core/base/error.hpp"

namespace tensorfs {
namespace {

class HeaderChecker {
public:
    HeaderChecker(Header& header, std::vector<HeaderEntry> entries, std::uint64_t data_begin, std::uint64_t file_size,
                  const std::string& path, std::size_t prefix)
        : header_(header),
          entries_(std::move(entries)),
          data_begin_(data_begin),
          file_size_(file_size),
          path_(path),
          prefix_(prefix) {}

    void check() {
        sort_entries();
        const std::optional<HeaderEntry> duplicate = drop_all_but_last_of_each_name();
        std::uint64_t end = 0;
        for (const HeaderEntry& entry : entries_) {
            check_tensor(entry, end);
            end = entry.end;
        }
        check_end(end);
        if (duplicate) fail(Kind::DuplicateName, &*duplicate, "the name stands twice in the header");
        make_tensors();
    }

private:
    [[nodiscard]] std::string_view name(const HeaderEntry& entry) const {
        return {header_.names.data() + entry.name_at, entry.name_size};
    }

    [[noreturn]] void fail(Kind kind, const HeaderEntry* entry, std::string text) const {
        throw Error({kind, path_, entry != nullptr ? std::string(name(*entry)) : std::string(), std::move(text)});
    }

    /// In data order, and by_name for that. An entry's place in the file is told by where its name is.
    void sort_entries() {
        const auto in_data_order = [&](const HeaderEntry& a, const HeaderEntry& b) {
            return std::tuple(a.begin, a.end, name(a)) < std::tuple(b.begin, b.end, name(b));
        };
        if (!std::is_sorted(entries_.begin(), entries_.end(), in_data_order)) {  // most writers keep it
            std::sort(entries_.begin(), entries_.end(), in_data_order);
        }
        header_.by_name.resize(entries_.size());
        std::iota(header_.by_name.begin(), header_.by_name.end(), 0U);
        std::sort(header_.by_name.begin(), header_.by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
            return std::tuple(name(entries_[a]), entries_[a].name_at) <
                   std::tuple(name(entries_[b]), entries_[b].name_at);
        });
    }

    /// As the reference does, so that rules 6 to 8 give its verdict; answers one that was dropped.
    std::optional<HeaderEntry> drop_all_but_last_of_each_name() {
        std::optional<HeaderEntry> dropped;
        std::vector<bool> is_dropped(entries_.size());
        for (std::size_t i = 1; i < header_.by_name.size(); ++i) {
            const std::uint32_t before = header_.by_name[i - 1];
            if (name(entries_[before]) != name(entries_[header_.by_name[i]])) continue;
            is_dropped[before] = true;
            dropped = entries_[before];
        }
        if (!dropped) return dropped;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (!is_dropped[i]) entries_[kept++] = entries_[i];
        }
        entries_.resize(kept);
        return dropped;
    }

    void check_tensor(const HeaderEntry& entry, std::uint64_t previous_end) const {
        if (entry.begin != previous_end) {
            fail(Kind::InvalidOffset, &entry,
                 fmt::format("it begins at byte {} of the data, but the tensor before it ends at {}", entry.begin,
                             previous_end));
        }
        if (entry.end < entry.begin) {
            fail(Kind::InvalidOffset, &entry,
                 fmt::format("it ends at byte {}, before it begins at {}", entry.end, entry.begin));
        }
        std::uint64_t size = 1;
        for (const std::uint64_t dim : Shape(header_.dims.data() + entry.dims_at, entry.rank)) {
            if (__builtin_mul_overflow(size, dim, &size)) {
                fail(Kind::ValidationOverflow, &entry, "the product of its shape does not fit 64 bits");
            }
        }
        if (__builtin_mul_overflow(size, std::uint64_t{bits(entry.dtype)}, &size)) {
            fail(Kind::ValidationOverflow, &entry, "its size in bits does not fit 64 bits");
        }
        if (size % 8 != 0) {
            fail(Kind::MisalignedSlice, &entry,
                 fmt::format("its {} bits of {} do not fill whole bytes", size, to_string(entry.dtype)));
        }
        if (entry.end - entry.begin != size / 8) {
            fail(Kind::TensorInvalidInfo, &entry,
                 fmt::format("its shape and dtype need {} bytes, but its data_offsets give {}", size / 8,
                             entry.end - entry.begin));
        }
    }

    void check_end(std::uint64_t data_size) const {
        const std::uint64_t present = file_size_ - data_begin_;
        if (data_size == present) return;
        fail(Kind::MetadataIncompleteBuffer, nullptr,
             present < data_size
                 ? fmt::format("the header describes {} bytes of data, but only {} follow it: the file was cut short "
                               "or is still being downloaded",
                               data_size, present)
                 : fmt::format("the header describes {} bytes of data, but {} follow it", data_size, present));
    }

    /// Lets tensors of the same shape share it: a model has many tensors and few shapes.
    void join_shapes() {
        constexpr std::size_t most_compared = 16;
        std::vector<std::uint64_t> joined;
        std::vector<std::pair<std::size_t, std::size_t>> shapes;  // where in `joined`, and the rank
        for (HeaderEntry& entry : entries_) {
            const auto* const dims = header_.dims.data() + entry.dims_at;
            const auto last = shapes.end() - static_cast<std::ptrdiff_t>(std::min(shapes.size(), most_compared));
            const auto same = std::find_if(last, shapes.end(), [&](const auto& shape) {
                return shape.second == entry.rank && std::equal(dims, dims + entry.rank, joined.data() + shape.first);
            });
            if (same != shapes.end()) {
                entry.dims_at = same->first;
                continue;
            }
            entry.dims_at = joined.size();
            shapes.emplace_back(entry.dims_at, entry.rank);
            joined.insert(joined.end(), dims, dims + entry.rank);
        }
        header_.dims = std::move(joined);
    }

    void make_tensors() {
        join_shapes();
        header_.tensors.reserve(entries_.size());
        for (const HeaderEntry& entry : entries_) {
            const std::string_view full_name(header_.names.data() + entry.name_at - prefix_, prefix_ + entry.name_size);
            header_.tensors.emplace_back(full_name, static_cast<std::uint16_t>(prefix_), entry.dtype,
                                         Shape(header_.dims.data() + entry.dims_at, entry.rank),
                                         data_begin_ + entry.begin, entry.end - entry.begin);
        }
    }

    Header& header_;
    std::vector<HeaderEntry> entries_;
    std::uint64_t data_begin_;
    std::uint64_t file_size_;
    const std::string& path_;
    std::size_t prefix_;
};

}  // namespace

void check_entries(Header& header, std::vector<HeaderEntry> entries, std::uint64_t data_begin, std::uint64_t file_size,
                   const std::string& path, std::size_t prefix) {
    HeaderChecker(header, std::move(entries), data_begin, file_size, path, prefix).check();
}

}  // namespace tensorfs
