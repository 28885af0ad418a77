#include "core/formats/gguf/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"

namespace tensorfs::gguf {
namespace {

class PlaceChecker {
public:
    PlaceChecker(Header& header, std::vector<HeaderEntry> entries, const DataSection& data,
                 const HeaderOptions& options)
        : header_(header), entries_(std::move(entries)), data_(data), options_(options) {}

    void check() {
        if (entries_.empty()) return;
        check_padding();
        sort_entries(header_, entries_);
        is_bad_.resize(entries_.size());
        check_names();
        check_places();
        if (std::find(is_bad_.begin(), is_bad_.end(), true) != is_bad_.end()) keep_good();
        make_tensors(header_, std::move(entries_), data_.begin, options_.prefix.size());
    }

private:
    void check_padding() const {
        if (data_.begin <= data_.file_size) return;
        throw Error({Kind::MetadataIncompleteBuffer,
                     data_.path,
                     {},
                     fmt::format("the data begins at byte {}, but the file has {} bytes: it was cut short or is still "
                                 "being downloaded",
                                 data_.begin, data_.file_size)});
    }

    /// A problem of one tensor: by itself, or of the file.
    void refuse(std::size_t i, Kind kind, std::string text) {
        Problem problem{kind, data_.path, std::string(name_of(header_, entries_[i])), std::move(text)};
        if (!options_.partial) throw Error(std::move(problem));
        header_.problems.push_back(std::move(problem));
        is_bad_[i] = true;
    }

    void check_names() {
        for (std::size_t i = 1; i < header_.by_name.size(); ++i) {
            const std::uint32_t at = header_.by_name[i];
            if (name_of(header_, entries_[header_.by_name[i - 1]]) == name_of(header_, entries_[at]))
                refuse(at, Kind::DuplicateName, "the name stands twice in the header");
        }
    }

    /// In data order, so that who is overlapped ends furthest of all before.
    void check_places() {
        const std::uint64_t size = data_.file_size - data_.begin;
        const HeaderEntry* furthest = nullptr;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const HeaderEntry& entry = entries_[i];
            if (is_bad_[i]) continue;
            if (entry.end > UINT64_MAX - data_.begin) {
                refuse(i, Kind::ValidationOverflow, "the place where it ends does not fit 64 bits");
            } else if (entry.end > size) {
                refuse(i, Kind::MetadataIncompleteBuffer,
                       fmt::format("it ends at byte {} of the data, of which the file has {}: it was cut short or is "
                                   "still being downloaded",
                                   entry.end, size));
            } else if (entry.begin == entry.end) {
                continue;
            } else if (furthest != nullptr && entry.begin < furthest->end) {
                refuse(i, Kind::InvalidOffset,
                       fmt::format("it begins at byte {} of the data, within {}, which ends at {}", entry.begin,
                                   in_quotes(name_of(header_, *furthest)), furthest->end));
            } else {
                furthest = &entry;
            }
        }
    }

    void keep_good() {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (!is_bad_[i]) entries_[kept++] = entries_[i];
        }
        entries_.resize(kept);
        sort_entries(header_, entries_);
    }

    Header& header_;
    std::vector<HeaderEntry> entries_;
    const DataSection& data_;
    const HeaderOptions& options_;
    std::vector<bool> is_bad_;
};

}  // namespace

void place_entries(Header& header, std::vector<HeaderEntry> entries, const DataSection& data,
                   const HeaderOptions& options) {
    PlaceChecker(header, std::move(entries), data, options).check();
}

}  // namespace tensorfs::gguf
