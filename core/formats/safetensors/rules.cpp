#include "core/formats/safetensors/rules.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "core/base/error.hpp"

namespace tensorfs::safetensors {
namespace {

/// Of one element: 4, 6, 8 and so on. The reference counts so, and which error it gives follows from it.
std::uint64_t bits(Dtype dtype) { return std::uint64_t{block_of(dtype).nbytes} * 8 / block_of(dtype).elements; }

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
        sort_entries(header_, entries_);
        const std::optional<HeaderEntry> duplicate = drop_all_but_last_of_each_name();
        std::uint64_t end = 0;
        for (const HeaderEntry& entry : entries_) {
            check_tensor(entry, end);
            end = entry.end;
        }
        check_end(end);
        if (duplicate) fail(Kind::DuplicateName, &*duplicate, "the name stands twice in the header");
        make_tensors(header_, std::move(entries_), data_begin_, prefix_);
    }

private:
    [[nodiscard]] std::string_view name(const HeaderEntry& entry) const { return name_of(header_, entry); }

    [[noreturn]] void fail(Kind kind, const HeaderEntry* entry, std::string text) const {
        throw Error({kind, path_, entry != nullptr ? std::string(name(*entry)) : std::string(), std::move(text)});
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
        if (__builtin_mul_overflow(size, bits(entry.dtype), &size)) {
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

}  // namespace tensorfs::safetensors
