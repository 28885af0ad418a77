#pragma once

// Zip archives, as PyTorch and NumPy write them (PKWARE's APPNOTE 6.3), read by the directory alone and
// without inflating. Readers differ in what they make of an archive that contradicts itself, which can
// hide from one what another loads; so each of these rules refuses the archive (InvalidArchive):
//
//  1. The last end record in the file's last 65,557 bytes, with its comment, ends where the file does. There
//     is one disk.
//  2. Where a ZIP64 locator stands before it, the ZIP64 end record counts: it ends where the locator begins,
//     and each field of the end record is the same or all ones.
//  3. The directory ends where these records begin, and has at most 100,000,000 bytes.
//  4. It is as many entries as the records say, and nothing else. A size or place of 0xFFFFFFFF is in the
//     entry's ZIP64 field.
//  5. Names are UTF-8 without NUL (which others take for a name's end), and none stands twice. What flag 11
//     says, and the old code page, do not matter.
//  6. Each member has a local header, with the same name and method, before the directory. The
//     bytes begin behind that: its own name and extra field count, not the directory's.
//  7. A stored member has one size. No member's header or bytes overlap another's; all lie before the directory.
//
// Sizes and checksums of local headers, and data descriptors, do not matter: PyTorch leaves the first 0.
// Checksums are not verified, since all bytes would have to be read.

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/tensors/shard.hpp"

namespace tensorfs::zip {

/// Why a member's bytes are not to be had as they lie in the file.
enum class Obstacle : std::uint8_t { none, compressed, encrypted };

/// A file in the archive.
struct Member {
    std::string_view name;  // valid UTF-8, without NUL; a folder's ends in "/"
    std::uint64_t offset;   // bytes from the start of the file to the member's first
    std::uint64_t nbytes;   // in the file, so compressed if it is
    Obstacle obstacle;
};

/// A validated directory. Movable; the members' names live as long as it does.
class Directory {
public:
    /// In the order of the directory.
    [[nodiscard]] std::span<const Member> members() const noexcept { return members_; }
    /// The member of that name; null if there is none. Takes logarithmic time.
    [[nodiscard]] const Member* find(std::string_view name) const noexcept;

private:
    friend class DirectoryReader;

    std::vector<char> bytes_;  // what the names are views of
    std::vector<Member> members_;
    std::vector<std::uint32_t> by_name_;  // positions in members_, in byte order of the names
};

/// Whether an archive has a member whose name is so, by the directory alone, which is not validated beyond its
/// own bytes. Throws Error, as read_directory() does.
bool has_member(const Shard& shard, const std::function<bool(std::string_view name)>& is_so);

/// Reads the directory and the local headers, these in parallel. Throws Error: InvalidArchive by the rules
/// above, or SystemError. Allocates a small multiple of the directory's size, after rule 3.
Directory read_directory(const Shard& shard);

}  // namespace tensorfs::zip
