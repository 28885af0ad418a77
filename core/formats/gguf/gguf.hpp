#pragma once

// The GGUF format, as this project reads it. A file is, one behind the other and all of it little-endian:
//
//     magic "GGUF" · version u32 · number of tensors u64 · number of keys u64
//     for each key:     key string · type of the value u32 · value
//     for each tensor:  name string · number of dims u32 · dims u64 … · type u32 · offset u64
//     padding up to a multiple of the alignment, and the data
//
// A string is its length, u64, and as many bytes. Each rule names the kind of Error that breaking it raises; they are
// tried in this order, rules 6 to 8 tensor by tensor. Where it says so, the reference (ggml and llama.cpp) is stricter,
// and a note tells that llama.cpp would not load the file.
//
//  1. A file has at least the 24 bytes up to the number of keys and begins      HeaderTooSmall
//     with the magic.                                                           InvalidHeader
//  2. The version is 2 or 3, which are the same here. Version 1 had shorter     UnsupportedVersion
//     counts; of a big-endian file the version's low 16 bits are zero.          BigEndian
//  3. Whatever a count or a length claims, the file has it. Of keys, tensors    InvalidHeaderLength
//     and elements in an array as many as are claimed fit what is left.
//  4. A key may be any bytes but none, and stands once. There are 13 types of   InvalidHeader
//     values. Arrays are nested at most 8 deep; the reference takes no array    DuplicateKey
//     of arrays. A bool is true unless it is 0.
//  5. general.alignment, if it is there, is a u32 and a power of two; else the  InvalidHeader
//     alignment is 32. It holds for its own file only. split.count is a u16.
//  6. A tensor's name is UTF-8 of at most 65,535 bytes; it has at most 8 dims,  TensorInvalidInfo
//     each below 2^63. The reference takes names of up to 63 bytes, which it
//     ends at a NUL, and 4 dims. The type is one of 35.                         UnsupportedDtype
//  7. The first dim, which is a row, is whole blocks of the type. The product   MisalignedSlice
//     of the dims from the last to the first, the size in bytes, and that plus  ValidationOverflow
//     the offset fit 64 bits.
//  8. An offset is a multiple of the alignment. The reference takes tensors     InvalidOffset
//     only one behind the other, without gaps, in the order of their infos.
//  9. No name stands twice.                                                     DuplicateName
// 10. The padding before the data is there if there is any tensor, and each     MetadataIncompleteBuffer
//     tensor ends in the file. Padding may be any bytes, what is behind the
//     last tensor may be missing, and more may follow.
// 11. No two tensors share a byte.                                              InvalidOffset
// 12. Where split.count is more than 1, the file is one part of as many: its    SplitMismatch
//     name is PREFIX-00001-of-0000N.gguf, the other parts are there, and each
//     has split.no (u16, from 0), split.count (u16) and split.tensors.count
//     (i32, of all parts together). (check_parts)
//
// Dims stand in a file with the row first; a shape here is row-major, as everywhere in this project: the dims
// reversed. Offsets in a file count from the start of the data; ours, from the start of the file.

#include <span>
#include <string_view>
#include <vector>

#include "core/formats/header.hpp"
#include "core/formats/part.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs::gguf {

/// Whether a file begins with the magic, whatever its version.
bool is_content(std::string_view beginning, const Shard& shard);

/// Reads and validates the header of a file, in pieces and never over a mapping. Throws Error: a kind of the rules
/// above, or SystemError. Allocates a small multiple of what the header has, not of what it claims. With
/// HeaderOptions::partial a tensor that breaks one of the rules 6 to 11 is a problem by itself and left out, but for
/// one of more than 8 dims, behind which nothing can be read.
Header read_header(const Shard& shard, const HeaderOptions& options = {});

/// What is wanted of a file's metadata, arrays as JSON; what is not UTF-8 in their strings becomes U+FFFD. Throws as
/// read_header() does.
Metadata read_metadata(const Shard& shard, Keep wanted);

/// Rule 12 over files that were read; see Format::check_parts.
std::vector<Problem> check_parts(std::span<const Part> parts, bool is_whole);

}  // namespace tensorfs::gguf
