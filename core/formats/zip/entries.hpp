#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tensorfs::zip {

/// An entry of a directory, as it stands there.
struct Entry {
    std::string_view name;
    std::uint64_t header;        // where the local header begins
    std::uint64_t compressed;    // bytes in the file
    std::uint64_t uncompressed;  // bytes when inflated
    std::uint16_t flags;
    std::uint16_t method;  // 0 is stored

    [[nodiscard]] bool is_stored() const { return method == 0; }
    /// By flag 0, or 13 where the directory is.
    [[nodiscard]] bool is_encrypted() const { return (flags & 0x2001) != 0; }
};

/// Parses a directory's bytes (rules 4 and 5 of directory.hpp, but for names that stand twice). `path` is
/// for messages. Throws Error (InvalidArchive).
std::vector<Entry> parse_entries(std::string_view directory, std::uint64_t count, const std::string& path);

}  // namespace tensorfs::zip
