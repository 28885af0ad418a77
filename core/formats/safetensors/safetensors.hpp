#pragma once

// The safetensors format, as this project reads it. It accepts what the reference implementation
// (the Rust crate `safetensors`, 0.8) accepts, except rule 9. Each rule names the kind of Error
// that breaking it raises; they are tried in this order.
//
//  1. A file begins with 8 bytes: the header's length N, little-endian.         HeaderTooSmall
//  2. N is at most 100,000,000.                                                 HeaderTooLarge
//  3. The file has at least 8 + N bytes.                                        InvalidHeaderLength
//  4. The header, the N bytes that follow, is UTF-8.                            InvalidHeader
//  5. It is one JSON object, with white space around it at most. Each field is  InvalidHeader-
//     a tensor, by its name, but "__metadata__", which may stand once and is    Deserialization
//     null or an object of strings (its last value for a key counts). A tensor
//     is an object with "dtype" (one of 22 names), "shape" (integers of 0 to
//     2^64-1) and "data_offsets" (two such integers), once each and in any
//     order; other fields are passed over. As in serde, which the reference is
//     built with, the array [dtype, shape, data_offsets] stands for the object,
//     and {"F32": null} for "F32".
//  6. In the order of their data_offsets, the first tensor begins at 0 and      InvalidOffset
//     each other where the one before it ends; none ends before it begins.
//  7. The product of the shape, from the left, and that times the element's     ValidationOverflow
//     bits fit 64 bits; the bits fill whole bytes, and just as many bytes as    MisalignedSlice
//     the offsets give. (Rules 6 and 7 are tried tensor by tensor.)             TensorInvalidInfo
//  8. The last tensor ends where the file ends.                                 MetadataIncompleteBuffer
//  9. No name stands twice. The format's text asks for that; the reference      DuplicateName
//     lets the last one win.
//
// Of a part (HeaderOptions::partial), only what cannot be known is lost: a tensor whose dtype is none of the 22, that
// breaks rule 7, or that ends behind the end of the file. Bytes behind the data are a problem and lose nothing. A
// header of which no tensor is left is refused, as is one that breaks any other rule.
//
// Offsets in a header count from the end of the header; ours, from the start of the file.

#include <cstdint>
#include <string>

#include "core/base/text.hpp"
#include "core/formats/header.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs::safetensors {

/// The largest header that the format allows, in bytes.
inline constexpr std::uint64_t max_header_size = 100'000'000;

/// Reads and validates the header of a shard. Throws Error: a kind of the rules above, or
/// SystemError. Allocates a small multiple of the header's size, after rule 3.
Header read_header(const Shard& shard, const HeaderOptions& options = {});

/// A shard's whole `__metadata__`. Throws as read_header() does.
Metadata read_metadata(const Shard& shard, Keep wanted);

/// Validates a header's text (rules 4 to 9) for a file of `file_size` bytes. `path` is for messages.
/// Throws Error. REQUIRES: file_size >= 8 + text.view().size().
Header parse_header(const json::Text& text, std::uint64_t file_size, const std::string& path,
                    const HeaderOptions& options = {});

}  // namespace tensorfs::safetensors
