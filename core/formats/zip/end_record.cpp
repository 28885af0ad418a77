#include "core/formats/zip/end_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/little_endian.hpp"

namespace tensorfs::zip {
namespace {

constexpr std::uint64_t end_record_size = 22;
constexpr std::uint64_t locator_size = 20;
constexpr std::uint64_t zip64_record_size = 56;  // without data of later versions behind it
constexpr std::uint64_t largest_comment = 65535;
constexpr std::uint64_t entry_size = 46;  // of the directory, at least

/// As large as a safetensors header may be; a directory of a million members.
constexpr std::uint64_t largest_directory = 100'000'000;

[[noreturn]] void fail(const Shard& shard, std::string text) {
    throw Error({Kind::InvalidArchive, shard.path(), {}, std::move(text)});
}

std::string bytes_of(const Shard& shard, std::uint64_t offset, std::uint64_t nbytes) {
    std::string bytes(nbytes, '\0');
    shard.read(offset, bytes);
    return bytes;
}

/// The end record, and where it begins.
struct EndRecord {
    std::uint64_t at;
    std::string bytes;

    [[nodiscard]] std::uint64_t disk() const { return little_endian_at(bytes, 4, 2); }
    [[nodiscard]] std::uint64_t directory_disk() const { return little_endian_at(bytes, 6, 2); }
    [[nodiscard]] std::uint64_t entries_here() const { return little_endian_at(bytes, 8, 2); }
    [[nodiscard]] std::uint64_t entries() const { return little_endian_at(bytes, 10, 2); }
    [[nodiscard]] std::uint64_t nbytes() const { return little_endian_at(bytes, 12, 4); }
    [[nodiscard]] std::uint64_t offset() const { return little_endian_at(bytes, 16, 4); }
};

EndRecord find_end_record(const Shard& shard) {
    const std::uint64_t size = std::min(shard.size(), end_record_size + largest_comment);
    const std::uint64_t begin = shard.size() - size;
    const std::string tail = bytes_of(shard, begin, size);
    const std::size_t at =
        size < end_record_size ? std::string::npos : tail.rfind("PK\5\6", tail.size() - end_record_size);
    if (at == std::string::npos) {
        fail(shard, "this zip archive has no end record: it was cut short or is still being downloaded");
    }
    if (little_endian_at(tail, at + 20, 2) != tail.size() - at - end_record_size) {
        fail(shard, "the zip archive's end record and its comment do not end where the file does");
    }
    return {begin + at, tail.substr(at, end_record_size)};
}

/// Where the ZIP64 end record begins, by its locator; nothing where there is no locator.
std::optional<std::uint64_t> find_zip64_record(const Shard& shard, std::uint64_t end_record) {
    if (end_record < locator_size) return std::nullopt;
    const std::uint64_t locator_at = end_record - locator_size;
    const std::string locator = bytes_of(shard, locator_at, locator_size);
    if (!locator.starts_with("PK\6\7")) return std::nullopt;
    const std::uint64_t at = little_endian_at(locator, 8, 8);
    if (little_endian_at(locator, 4, 4) != 0 || little_endian_at(locator, 16, 4) > 1) {
        fail(shard, "the zip archive is one of several disks");
    }
    if (locator_at < zip64_record_size || at > locator_at - zip64_record_size) {
        fail(shard, fmt::format("the zip archive's ZIP64 end record would begin at byte {}, but its locator does at {}",
                                at, locator_at));
    }
    return at;
}

/// Whether a field of the end record agrees with ZIP64's: it is the same, or says to look there.
bool agrees(std::uint64_t field, std::uint64_t all_ones, std::uint64_t zip64) {
    return field == zip64 || field == all_ones;
}

DirectoryPlace read_zip64_record(const Shard& shard, const EndRecord& end, std::uint64_t at) {
    const std::string record = bytes_of(shard, at, zip64_record_size);
    // The size it gives itself leaves out the first 12 bytes.
    if (!record.starts_with("PK\6\6") || little_endian_at(record, 4, 8) != end.at - locator_size - at - 12) {
        fail(shard, fmt::format("at byte {}, where the zip archive's ZIP64 end record should be, there is none", at));
    }
    const DirectoryPlace place{little_endian_at(record, 48, 8), little_endian_at(record, 40, 8),
                               little_endian_at(record, 32, 8)};
    const bool is_one_disk = little_endian_at(record, 16, 8) == 0 && little_endian_at(record, 24, 8) == place.entries;
    if (!is_one_disk || !agrees(end.disk(), 0xFFFF, 0) || !agrees(end.directory_disk(), 0xFFFF, 0)) {
        fail(shard, "the zip archive is one of several disks");
    }
    if (!agrees(end.entries(), 0xFFFF, place.entries) || !agrees(end.entries_here(), 0xFFFF, place.entries) ||
        !agrees(end.nbytes(), 0xFFFFFFFF, place.nbytes) || !agrees(end.offset(), 0xFFFFFFFF, place.offset)) {
        fail(shard, "the zip archive's end record and its ZIP64 end record contradict each other");
    }
    return place;
}

}  // namespace

DirectoryPlace find_directory(const Shard& shard) {
    const EndRecord end = find_end_record(shard);
    const std::optional<std::uint64_t> zip64 = find_zip64_record(shard, end.at);
    DirectoryPlace place{end.offset(), end.nbytes(), end.entries()};
    if (zip64) {
        place = read_zip64_record(shard, end, *zip64);
    } else if (end.disk() != 0 || end.directory_disk() != 0 || end.entries_here() != place.entries) {
        fail(shard, "the zip archive is one of several disks");
    }
    const std::uint64_t directory_end = zip64.value_or(end.at);
    if (place.nbytes > directory_end || place.offset != directory_end - place.nbytes) {
        fail(shard, fmt::format("the zip archive's directory has {} bytes from byte {} on, but the record that says so "
                                "is at {}, which should be where it ends",
                                place.nbytes, place.offset, directory_end));
    }
    if (place.nbytes > largest_directory) {
        fail(shard,
             fmt::format("the zip archive's directory has {} bytes, more than {}", place.nbytes, largest_directory));
    }
    if (place.entries > place.nbytes / entry_size) {
        fail(shard, fmt::format("the zip archive's directory of {} bytes is too small for {} members", place.nbytes,
                                place.entries));
    }
    return place;
}

}  // namespace tensorfs::zip
