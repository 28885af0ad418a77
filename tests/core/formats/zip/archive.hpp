#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/contents.hpp"

namespace tensorfs::tests {

/// A member of an archive to be written, right unless told otherwise.
struct ZipMember {
    std::string name;
    std::string bytes;
    std::uint64_t method = 0;
    std::uint64_t flags = 0;
    std::string extra{};                                       // in the directory
    std::string local_extra{};                                 //
    std::optional<std::string> local_name = std::nullopt;      // where it is another
    std::optional<std::uint64_t> local_method = std::nullopt;  // where it is another
    std::optional<std::uint64_t> local_flags = std::nullopt;   // where they are others
    std::optional<std::uint64_t> header = std::nullopt;        // in the directory, where it is another place
    std::optional<std::uint64_t> nbytes = std::nullopt;        // in the directory, where it is another number
    std::optional<std::uint64_t> inflated = std::nullopt;      // the size when inflated, where it is another
    std::string descriptor{};                                  // behind the bytes
};

/// What stands behind an archive's members.
struct ZipEnd {
    std::string comment{};
    std::string behind_directory{};  // and counted as a part of it
    bool zip64 = false;              // with ZIP64's records, of the same values
    bool all_ones = false;           // where ZIP64's count, in the end record
    std::optional<std::uint64_t> entries = std::nullopt;
    std::optional<std::uint64_t> nbytes = std::nullopt;
    std::optional<std::uint64_t> offset = std::nullopt;
    std::optional<std::uint64_t> disk = std::nullopt;
    std::optional<std::uint64_t> zip64_entries = std::nullopt;
    std::optional<std::uint64_t> zip64_at = std::nullopt;      // in the locator
    std::optional<std::uint64_t> zip64_nbytes = std::nullopt;  // which the record gives itself
};

/// An archive as bytes. Sizes and checksums of local headers are 0.
inline std::string zip_archive(const std::vector<ZipMember>& members, const ZipEnd& end = {}) {
    const auto u16 = [](std::uint64_t value) { return little_endian(value, 2); };
    const auto u32 = [](std::uint64_t value) { return little_endian(value, 4); };
    const auto u64 = [](std::uint64_t value) { return little_endian(value, 8); };
    std::string file;
    std::string directory;
    for (const ZipMember& member : members) {
        const std::uint64_t nbytes = member.nbytes.value_or(member.bytes.size());
        directory += "PK\1\2" + u16(20) + u16(20) + u16(member.flags) + u16(member.method) + u32(0) + u32(0) +
                     u32(nbytes) + u32(member.inflated.value_or(nbytes)) + u16(member.name.size()) +
                     u16(member.extra.size()) + u16(0) + u16(0) + u16(0) + u32(0) +
                     u32(member.header.value_or(file.size())) + member.name + member.extra;
        const std::string local_name = member.local_name.value_or(member.name);
        file += "PK\3\4" + u16(20) + u16(member.local_flags.value_or(member.flags)) +
                u16(member.local_method.value_or(member.method)) + std::string(16, '\0') + u16(local_name.size()) +
                u16(member.local_extra.size()) + local_name + member.local_extra + member.bytes + member.descriptor;
    }
    const std::uint64_t offset = file.size();
    directory += end.behind_directory;
    file += directory;
    if (end.zip64) {
        const std::uint64_t entries = end.zip64_entries.value_or(members.size());
        const std::uint64_t at = end.zip64_at.value_or(file.size());
        file += "PK\6\6" + u64(end.zip64_nbytes.value_or(44)) + u16(45) + u16(45) + u32(0) + u32(0) + u64(entries) +
                u64(entries) + u64(directory.size()) + u64(offset);
        file += "PK\6\7" + u32(0) + u64(at) + u32(1);
    }
    const auto field = [&](const std::optional<std::uint64_t>& told, std::uint64_t value) {
        return told.value_or(end.all_ones ? UINT64_MAX : value);
    };
    const std::uint64_t disk = field(end.disk, 0);
    const std::uint64_t entries = field(end.entries, members.size());
    return file + "PK\5\6" + u16(disk) + u16(disk) + u16(entries) + u16(entries) +
           u32(field(end.nbytes, directory.size())) + u32(field(end.offset, offset)) + u16(end.comment.size()) +
           end.comment;
}

/// An extra field of ZIP64 with these values.
inline std::string zip64_extra(const std::vector<std::uint64_t>& values) {
    std::string extra = little_endian(1, 2) + little_endian(values.size() * 8, 2);
    for (const std::uint64_t value : values) extra += little_endian(value, 8);
    return extra;
}

}  // namespace tensorfs::tests
