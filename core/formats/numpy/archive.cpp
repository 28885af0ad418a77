#include "core/formats/numpy/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/error.hpp"
#include "core/tensors/scattered_read.hpp"

namespace tensorfs::numpy {
namespace {

constexpr std::string_view suffix = ".npy";

/// Of an array's file, what is read first: NumPy pads most headers to 128 bytes.
constexpr std::uint64_t first_read = 256;

/// The header of an array at `offset`, of whose `size` bytes the first are given. Throws Error.
ArrayHeader read_header_at(const Shard& shard, std::uint64_t offset, std::uint64_t size, std::string_view beginning,
                           std::string_view name) {
    const std::uint64_t needed = std::min(array_header_size(beginning), size);
    if (needed <= beginning.size()) return parse_array_header(beginning, size, shard.path(), name);
    std::string more(needed, '\0');
    shard.read(offset, more);
    return parse_array_header(more, size, shard.path(), name);
}

class ArchiveReader {
public:
    ArchiveReader(const Shard& shard, bool partial) : shard_(shard), partial_(partial) {}

    Archive read() {
        archive_.directory = zip::read_directory(shard_);
        find_candidates();
        read_headers();
        collect();
        if (!archive_.problems.empty() && !partial_) throw Error(archive_.problems.front());
        if (archive_.arrays.empty()) fail();
        return std::move(archive_);
    }

private:
    /// A member that may be an array.
    struct Candidate {
        const zip::Member* member;
        std::string_view name;
        bool is_array = false;
        ArrayHeader header{};
        std::unique_ptr<Error> error{};
    };

    void leave_out(std::string_view name, std::string_view reason) {
        archive_.left_out.push_back({std::string(name), std::string(reason)});
    }

    void find_candidates() {
        std::vector<const zip::Member*> members;
        members.reserve(archive_.directory.members().size());
        for (const zip::Member& member : archive_.directory.members()) members.push_back(&member);
        std::sort(members.begin(), members.end(),
                  [](const zip::Member* a, const zip::Member* b) { return a->offset < b->offset; });
        for (const zip::Member* member : members) {
            if (!member->name.ends_with(suffix)) {
                if (!member->name.ends_with('/')) leave_out(member->name, "no array");
                continue;
            }
            const std::string_view name = member->name.substr(0, member->name.size() - suffix.size());
            if (member->obstacle == zip::Obstacle::none) {
                candidates_.push_back({member, name});
            } else {
                has_compressed_ = true;
                leave_out(name, member->obstacle == zip::Obstacle::compressed ? "compressed" : "encrypted");
            }
        }
    }

    void read_headers() {
        std::vector<SmallRange> ranges;
        ranges.reserve(candidates_.size());
        for (const Candidate& candidate : candidates_) {
            const std::uint64_t size = std::min(candidate.member->nbytes, first_read);
            ranges.push_back({candidate.member->offset, static_cast<std::uint32_t>(size)});
        }
        read_scattered(shard_, ranges, [&](std::size_t i, std::string_view beginning) {
            Candidate& candidate = candidates_[i];
            if (!beginning.starts_with(magic)) return;
            try {
                candidate.header = read_header_at(shard_, candidate.member->offset, candidate.member->nbytes, beginning,
                                                  candidate.name);
                candidate.is_array = true;
            } catch (const Error& e) {
                candidate.error = std::make_unique<Error>(e);
            }
        });
    }

    void collect() {
        for (Candidate& candidate : candidates_) {
            if (candidate.error) {
                const std::vector<Problem>& problems = candidate.error->problems();
                archive_.problems.insert(archive_.problems.end(), problems.begin(), problems.end());
            } else if (!candidate.is_array) {
                leave_out(candidate.member->name, "no array, in spite of its name");
            } else if (!candidate.header.dtype) {
                has_unsupported_ = true;
                leave_out(candidate.name, candidate.header.obstacle);
            } else {
                const std::uint64_t offset = candidate.member->offset + candidate.header.data;
                archive_.arrays.push_back({candidate.name, std::move(candidate.header), offset});
            }
        }
    }

    [[noreturn]] void fail() {
        if (!archive_.problems.empty()) throw Error(std::move(archive_.problems));
        const std::size_t members = archive_.directory.members().size();
        if (has_compressed_) {
            throw Error({Kind::CompressedMember,
                         shard_.path(),
                         {},
                         "its arrays are compressed or encrypted: load it and save it with numpy.savez"});
        }
        if (has_unsupported_) {
            throw Error({Kind::UnsupportedDtype,
                         shard_.path(),
                         {},
                         fmt::format("none of its arrays has a type that can be shown; the first: {}",
                                     archive_.left_out.front().reason)});
        }
        throw Error({Kind::NotAModel,
                     shard_.path(),
                     {},
                     members == 0 ? std::string("this zip archive is empty")
                                  : fmt::format("this zip archive holds {} files, but no arrays", members)});
    }

    const Shard& shard_;
    bool partial_;
    Archive archive_;
    std::vector<Candidate> candidates_;  // in the order of the file
    bool has_compressed_ = false;
    bool has_unsupported_ = false;
};

}  // namespace

Archive read_archive(const Shard& shard, bool partial) { return ArchiveReader(shard, partial).read(); }

Array read_array(const Shard& shard) {
    std::string_view name = shard.path();
    name.remove_prefix(std::min(name.size(), name.rfind('/') + 1));
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());

    std::string beginning(std::min(shard.size(), first_read), '\0');
    shard.read(0, beginning);
    ArrayHeader header = read_header_at(shard, 0, shard.size(), beginning, name);
    if (!header.dtype) {
        throw Error({Kind::UnsupportedDtype, shard.path(), std::string(name),
                     fmt::format("it cannot be shown: {}", header.obstacle)});
    }
    const std::uint64_t offset = header.data;
    return {name, std::move(header), offset};
}

}  // namespace tensorfs::numpy
