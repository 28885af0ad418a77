#pragma once

// NumPy's archives (.npz): a zip archive of arrays, each a member NAME.npy that is stored.
//
//  1. The zip archive obeys the rules of zip/directory.hpp.
//  2. A member whose name ends in ".npy" and that begins as an array does is one. Its name is the member's
//     without that suffix, as it is. Other members are passed over.
//  3. Each array obeys the rules of array_header.hpp, within its member.
//  4. Compressed and encrypted members, and arrays of types that safetensors lacks, are left out.
//  5. Something is left: else all is compressed                                      CompressedMember
//     or has no type that can be shown                                               UnsupportedDtype
//     or the archive holds no arrays.                                                NotAModel

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/formats/numpy/array_header.hpp"
#include "core/formats/zip/directory.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs::numpy {

/// An array that can be shown.
struct Array {
    std::string_view name;
    ArrayHeader header;    // with a dtype
    std::uint64_t offset;  // bytes from the start of the shard file to the first element
};

/// What a source holds and does not show.
struct LeftOut {
    std::string name;    // the array's; or the member's where it is no array
    std::string reason;  // such as "compressed"
};

/// A validated archive. Movable; the arrays' names live as long as it does.
struct Archive {
    zip::Directory directory;
    std::vector<Array> arrays;      // in the order of the file
    std::vector<LeftOut> left_out;  // likewise
    std::vector<Problem> problems;  // of arrays that break a rule; empty unless these are left out
};

/// Reads an archive's directory and its arrays' headers, these in parallel. Throws Error: kinds of the rules
/// above, InvalidArchive, InvalidArrayHeader, or SystemError. With `partial`, arrays that break rule 3 are left
/// out, unless nothing else is there.
Archive read_archive(const Shard& shard, bool partial = false);

/// Reads the header of a file that is one array (.npy), whose name is the file's without the suffix; the
/// name is a view of the path, while the shard stays where it is. Throws Error: kinds of array_header.hpp,
/// UnsupportedDtype where the array cannot be shown, or SystemError.
Array read_array(const Shard& shard);

}  // namespace tensorfs::numpy
