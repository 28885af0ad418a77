#pragma once

// From a tensor's name to the segments of its path. (What happens where paths meet: tree.hpp.)
//
//  1. A name is cut into folders at separators, `.` and `/` unless told otherwise. A separator is
//     kept in its segment where cutting would leave an empty one: at the name's beginning and end,
//     and of several in a row all but the last: "a..b" is "a." / "b".
//  2. No cut is made where the part before it is a tensor's name by itself: next to "a.weight",
//     "a.weight.absmax" is "a" / "weight.absmax".
//  3. In a segment `%`, `/`, NUL, bytes below 0x20 and 0x7F become %XX; the segments "." and ".."
//     become "%2E" and "%2E%2E"; the empty name becomes "%". A first segment ".tensorfs" becomes
//     "%2Etensorfs".
//  4. A segment of more than 255 bytes is cut at a character's boundary and ends in "~" and eight
//     hexadecimal digits: XXH32, seed 0, of the whole segment as it was before rule 3.
//
// Cutting stops after 128 folders: the rest of such a name is one segment.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace tensorfs {

/// The longest file name, in bytes (Linux's NAME_MAX).
inline constexpr std::size_t max_segment = 255;
inline constexpr std::size_t max_folders = 128;

/// A set of bytes at which names are cut.
class Separators {
public:
    explicit Separators(std::string_view set) {
        for (const char c : set) is_one_[static_cast<unsigned char>(c)] = true;
    }
    [[nodiscard]] bool contains(char c) const { return is_one_[static_cast<unsigned char>(c)]; }
    /// Rule 1: whether a name is cut at name[at]. REQUIRES: at < name.size().
    [[nodiscard]] bool cut(std::string_view name, std::size_t at) const {
        return contains(name[at]) && at != 0 && at + 1 != name.size() && !contains(name[at + 1]);
    }

private:
    std::array<bool, 256> is_one_{};
};

/// Rules 3 and 4: the file name of a segment. `first` says that it stands in the mount's root.
/// Most segments are their own file name: nothing is allocated for these, and the result is a view
/// of `segment`; else it is a view of `storage`.
std::string_view file_name(std::string_view segment, bool first, std::string& storage);

/// Rule 3 alone, but for "." and "..": `segment` with what a file name may not hold as %XX.
std::string escape_segment(std::string_view segment);

/// `name` cut, if need be, so that `suffix` fits behind it in a file name; with the suffix.
std::string with_suffix(std::string_view name, std::string_view suffix);

}  // namespace tensorfs
