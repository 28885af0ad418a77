#include "core/formats/zip/directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/base/little_endian.hpp"
#include "core/formats/zip/end_record.hpp"
#include "core/formats/zip/entries.hpp"
#include "core/tensors/scattered_read.hpp"

namespace tensorfs::zip {
namespace {

constexpr std::uint64_t local_size = 30;  // of a local header, without name and extra field

/// What is wrong with a local header; "" where nothing is.
std::string_view fault_of(std::string_view local, const Entry& entry) {
    if (!local.starts_with("PK\3\4")) return "has no local header where the directory says";
    if (little_endian_at(local, 26, 2) != entry.name.size() || local.substr(local_size) != entry.name) {
        return "has another name in its local header";
    }
    if (little_endian_at(local, 8, 2) != entry.method) return "has another method in its local header";
    if ((little_endian_at(local, 6, 2) & 1) != (entry.flags & 1U)) return "is encrypted in one of its headers only";
    return {};
}

Obstacle obstacle_of(const Entry& entry) {
    if (entry.is_encrypted()) return Obstacle::encrypted;
    return entry.is_stored() ? Obstacle::none : Obstacle::compressed;
}

}  // namespace

class DirectoryReader {
public:
    explicit DirectoryReader(const Shard& shard) : shard_(shard) {}

    Directory read() {
        const DirectoryPlace place = find_directory(shard_);
        end_ = place.offset;
        directory_.bytes_.resize(place.nbytes);
        shard_.read(place.offset, directory_.bytes_);
        entries_ = parse_entries({directory_.bytes_.data(), directory_.bytes_.size()}, place.entries, shard_.path());
        sort_by_name();
        sort_by_place();
        read_local_headers();
        check_places();
        return std::move(directory_);
    }

private:
    [[noreturn]] void fail(const Entry& entry, std::string_view fault) const {
        throw Error({Kind::InvalidArchive,
                     shard_.path(),
                     {},
                     fmt::format("the zip archive's member {} {}", in_quotes(entry.name), fault)});
    }

    void sort_by_name() {
        std::vector<std::uint32_t>& by_name = directory_.by_name_;
        by_name.resize(entries_.size());
        std::iota(by_name.begin(), by_name.end(), 0U);
        std::sort(by_name.begin(), by_name.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return entries_[a].name < entries_[b].name; });
        const auto twice = std::adjacent_find(by_name.begin(), by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
            return entries_[a].name == entries_[b].name;
        });
        if (twice != by_name.end()) fail(entries_[*twice], "stands there twice");
    }

    void sort_by_place() {
        by_place_.resize(entries_.size());
        std::iota(by_place_.begin(), by_place_.end(), 0U);
        const auto in_order = [&](std::uint32_t a, std::uint32_t b) { return entries_[a].header < entries_[b].header; };
        if (!std::is_sorted(by_place_.begin(), by_place_.end(), in_order)) {  // most writers keep it
            std::sort(by_place_.begin(), by_place_.end(), in_order);
        }
    }

    void read_local_headers() {
        std::vector<SmallRange> headers;
        headers.reserve(entries_.size());
        for (const std::uint32_t i : by_place_) {
            const std::uint64_t size = local_size + entries_[i].name.size();
            if (size > end_ || entries_[i].header > end_ - size) fail(entries_[i], "begins beyond the last");
            headers.push_back({entries_[i].header, static_cast<std::uint32_t>(size)});
        }
        faults_.resize(entries_.size());
        directory_.members_.resize(entries_.size());
        read_scattered(shard_, headers, [&](std::size_t at, std::string_view local) {
            const std::uint32_t i = by_place_[at];
            const Entry& entry = entries_[i];
            faults_[at] = fault_of(local, entry);
            const std::uint64_t begin = entry.header + local.size() + little_endian_at(local, 28, 2);
            directory_.members_[i] = {entry.name, begin, entry.compressed, obstacle_of(entry)};
        });
    }

    void check_places() const {
        for (std::size_t at = 0; at < by_place_.size(); ++at) {
            const Entry& entry = entries_[by_place_[at]];
            const Member& member = directory_.members_[by_place_[at]];
            const bool is_last = at + 1 == by_place_.size();
            const std::uint64_t limit = is_last ? end_ : entries_[by_place_[at + 1]].header;
            if (!faults_[at].empty()) fail(entry, faults_[at]);
            if (member.obstacle == Obstacle::none && entry.compressed != entry.uncompressed) {
                fail(entry, "is stored, but has two sizes");
            }
            if (member.offset > limit || member.nbytes > limit - member.offset) {
                fail(entry, is_last ? "reaches into the directory" : "overlaps the one behind it");
            }
        }
    }

    const Shard& shard_;
    Directory directory_;
    std::uint64_t end_ = 0;                 // of what members may take: where the directory begins
    std::vector<Entry> entries_;            // in the order of the directory
    std::vector<std::uint32_t> by_place_;   // positions in entries_, in the order of the file
    std::vector<std::string_view> faults_;  // of local headers, in the order of the file
};

const Member* Directory::find(std::string_view name) const noexcept {
    const auto found =
        std::lower_bound(by_name_.begin(), by_name_.end(), name,
                         [&](std::uint32_t i, std::string_view wanted) { return members_[i].name < wanted; });
    return found != by_name_.end() && members_[*found].name == name ? &members_[*found] : nullptr;
}

bool has_member(const Shard& shard, const std::function<bool(std::string_view name)>& is_so) {
    const DirectoryPlace place = find_directory(shard);
    std::string bytes(place.nbytes, '\0');
    shard.read(place.offset, bytes);
    const std::vector<Entry> entries = parse_entries(bytes, place.entries, shard.path());
    return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return is_so(entry.name); });
}

Directory read_directory(const Shard& shard) { return DirectoryReader(shard).read(); }

}  // namespace tensorfs::zip
