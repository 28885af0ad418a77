#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/formats/metadata.hpp"
#include "core/tensors/shard.hpp"
#include "core/tensors/tensor.hpp"

namespace tensorfs {

/// What a file of any format says of its tensors, validated: each lies in the file and can be shown. Movable;
/// the tensors' names and shapes live as long as it does.
struct Header {
    std::vector<Tensor> tensors;         // in data order; empty ones that share an offset, by name
    std::vector<std::uint32_t> by_name;  // positions in tensors, in byte order of the names
    Metadata metadata;
    std::vector<char> names;          // what the tensors' names are views of
    std::vector<std::uint64_t> dims;  // what their shapes and strides are views of
    std::vector<std::string> notes;   // what deserves a word but is no fault, a sentence each
    std::vector<Problem> problems;    // with HeaderOptions::partial: what was left out as it is bad
    std::vector<std::string> calls;   // what a loader would call that runs programs, such as "os.system"
};

/// How a header is to be read.
struct HeaderOptions {
    std::string_view prefix = {};    // goes before the names to make full names; at most 65,535 bytes
    std::string_view key = {};       // of nested formats: the part that is taken as the whole, such as "model.ema"
    bool partial = false;            // leave out tensors that are bad by themselves, instead of throwing
    Keep keep = Keep::short_values;  // of the metadata
};

/// A tensor as a format's reader states it, before a Header is made of many.
struct HeaderEntry {
    std::size_t name_at = 0, name_size = 0;  // in Header::names, the prefix before it
    std::size_t dims_at = 0, rank = 0;       // in Header::dims, the strides behind them if it is strided
    std::uint64_t begin = 0, end = 0;        // bytes from the start of the data; of a strided one, begin + nbytes
    Dtype dtype{};
    ElementLayout layout = ElementLayout::contiguous;
    bool is_left_out = false;  // it only says what its bytes are not, while other tensors are checked
};

/// Appends a name with `prefix` before it to the header's names; the entry is told where it stands.
void add_name(Header& header, HeaderEntry& entry, std::string_view prefix, std::string_view name);

/// The name of an entry, without the prefix.
inline std::string_view name_of(const Header& header, const HeaderEntry& entry) {
    return {header.names.data() + entry.name_at, entry.name_size};
}

/// Sorts `entries` into data order, and by_name to match. Of entries with one name, the one whose name was
/// added first comes first.
void sort_entries(Header& header, std::vector<HeaderEntry>& entries);

/// Makes the header's tensors of sorted entries. The data begins at `data_begin` of the file; names stand behind a
/// prefix of `prefix` bytes. Tensors of the same shape share it.
void make_tensors(Header& header, std::vector<HeaderEntry> entries, std::uint64_t data_begin, std::size_t prefix);

}  // namespace tensorfs
