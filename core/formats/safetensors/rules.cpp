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
    HeaderChecker(Header& header, std::vector<HeaderEntry> entries, const HeaderFile& file,
                  const HeaderOptions& options)
        : header_(header), entries_(std::move(entries)), file_(file), options_(options) {}

    void check() {
        sort_entries(header_, entries_);
        const std::optional<HeaderEntry> duplicate = drop_all_but_last_of_each_name();
        std::uint64_t end = 0;
        for (HeaderEntry& entry : entries_) {
            check_place(entry, end);
            check_size(entry);
            end = entry.end;
        }
        check_end(end);
        if (duplicate) fail(Kind::DuplicateName, &*duplicate, "the name stands twice in the header");
        leave_out();
        make_tensors(header_, std::move(entries_), file_.data_begin, options_.prefix.size());
    }

private:
    [[nodiscard]] std::string_view name(const HeaderEntry& entry) const { return name_of(header_, entry); }

    [[nodiscard]] Problem problem(Kind kind, const HeaderEntry* entry, std::string text) const {
        return {kind, file_.path, entry != nullptr ? std::string(name(*entry)) : std::string(), std::move(text)};
    }
    [[noreturn]] void fail(Kind kind, const HeaderEntry* entry, std::string text) const {
        throw Error(problem(kind, entry, std::move(text)));
    }
    /// It is bad by itself: of a part, it is left out.
    void reject(Kind kind, HeaderEntry& entry, std::string text) {
        if (!options_.partial) fail(kind, &entry, std::move(text));
        header_.problems.push_back(problem(kind, &entry, std::move(text)));
        entry.is_left_out = true;
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

    void check_place(const HeaderEntry& entry, std::uint64_t previous_end) const {
        if (entry.begin != previous_end) {
            fail(Kind::InvalidOffset, &entry,
                 fmt::format("it begins at byte {} of the data, but the tensor before it ends at {}", entry.begin,
                             previous_end));
        }
        if (entry.end < entry.begin) {
            fail(Kind::InvalidOffset, &entry,
                 fmt::format("it ends at byte {}, before it begins at {}", entry.end, entry.begin));
        }
    }

    void check_size(HeaderEntry& entry) {
        if (entry.is_left_out) return;  // its dtype is unknown
        std::uint64_t size = 1;
        for (const std::uint64_t dim : Shape(header_.dims.data() + entry.dims_at, entry.rank)) {
            if (__builtin_mul_overflow(size, dim, &size)) {
                reject(Kind::ValidationOverflow, entry, "the product of its shape does not fit 64 bits");
                return;
            }
        }
        if (__builtin_mul_overflow(size, bits(entry.dtype), &size)) {
            reject(Kind::ValidationOverflow, entry, "its size in bits does not fit 64 bits");
        } else if (size % 8 != 0) {
            reject(Kind::MisalignedSlice, entry,
                   fmt::format("its {} bits of {} do not fill whole bytes", size, to_string(entry.dtype)));
        } else if (entry.end - entry.begin != size / 8) {
            reject(Kind::TensorInvalidInfo, entry,
                   fmt::format("its shape and dtype need {} bytes, but its data_offsets give {}", size / 8,
                               entry.end - entry.begin));
        }
    }

    void check_end(std::uint64_t data_size) {
        const std::uint64_t present = file_.size - file_.data_begin;
        if (data_size == present) return;
        Problem wrong = problem(
            Kind::MetadataIncompleteBuffer, nullptr,
            present < data_size
                ? fmt::format("the header describes {} bytes of data, but only {} follow it: the file was cut short "
                              "or is still being downloaded",
                              data_size, present)
                : fmt::format("the header describes {} bytes of data, but {} follow it", data_size, present));
        if (!options_.partial) throw Error(std::move(wrong));
        header_.problems.push_back(std::move(wrong));
        for (HeaderEntry& entry : entries_) entry.is_left_out = entry.is_left_out || entry.end > present;
    }

    void leave_out() {
        const std::size_t left_out =
            std::erase_if(entries_, [](const HeaderEntry& entry) { return entry.is_left_out; });
        if (entries_.empty() && !header_.problems.empty()) throw Error(std::move(header_.problems));
        if (left_out != 0) sort_entries(header_, entries_);
    }

    Header& header_;
    std::vector<HeaderEntry> entries_;
    const HeaderFile& file_;
    const HeaderOptions& options_;
};

}  // namespace

void check_entries(Header& header, std::vector<HeaderEntry> entries, const HeaderFile& file,
                   const HeaderOptions& options) {
    HeaderChecker(header, std::move(entries), file, options).check();
}

}  // namespace tensorfs::safetensors
