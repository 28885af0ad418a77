#include "core/formats/numpy/numpy.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/formats/numpy/archive.hpp"

namespace tensorfs::numpy {
namespace {

/// Appends the dimensions and, where they are needed, the strides of a column-major array.
void add_shape(Header& header, HeaderEntry& entry, const ArrayHeader& array) {
    entry.dims_at = header.dims.size();
    entry.rank = array.shape.size();
    header.dims.insert(header.dims.end(), array.shape.begin(), array.shape.end());
    if (array.is_row_major()) return;
    entry.layout = ElementLayout::strided;
    std::uint64_t stride = 1;
    for (const std::uint64_t size : array.shape) {
        header.dims.push_back(stride);
        stride *= size;
    }
}

HeaderEntry make_entry(Header& header, const Array& array, std::string_view prefix, std::string_view name) {
    HeaderEntry entry;
    add_name(header, entry, prefix, name);
    add_shape(header, entry, array.header);
    entry.begin = array.offset;
    entry.end = array.offset + array.header.nbytes;
    entry.dtype = *array.header.dtype;
    return entry;
}

void finish(Header& header, std::vector<HeaderEntry> entries, std::string_view prefix) {
    sort_entries(header, entries);
    make_tensors(header, std::move(entries), 0, prefix.size());
}

}  // namespace

bool is_array_file(std::string_view beginning, const Shard& /*shard*/) { return beginning.starts_with(magic); }

bool is_archive(std::string_view beginning, const Shard& shard) {
    // A safetensors header of 67,324,752 bytes begins like a zip archive, but then the four bytes behind are 0.
    const bool is_zip = beginning.starts_with("PK\3\4") && beginning.substr(4, 4) != std::string_view("\0\0\0\0", 4);
    if (!is_zip && !beginning.starts_with("PK\5\6")) return false;
    const bool is_called_so = shard.path().ends_with(".npz");
    try {
        return is_called_so || zip::has_member(shard, [](std::string_view name) { return name.ends_with(".npy"); });
    } catch (const Error& e) {
        if (e.problems().front().kind == Kind::SystemError) throw;
        return false;
    }
}

Header read_array_file(const Shard& shard, const HeaderOptions& options) {
    const Array array = read_array(shard);
    Header header;
    // What is no UTF-8 in the file's name is escaped, since a tensor's name is UTF-8.
    const bool is_plain = is_utf8(array.name);
    const std::string name = is_plain ? std::string(array.name) : printable(array.name);
    finish(header, {make_entry(header, array, options.prefix, name)}, options.prefix);
    return header;
}

Header read_archive_file(const Shard& shard, const HeaderOptions& options) {
    Archive archive = read_archive(shard, options.partial);
    Header header;
    std::vector<HeaderEntry> entries;
    entries.reserve(archive.arrays.size());
    for (const Array& array : archive.arrays) {
        entries.push_back(make_entry(header, array, options.prefix, array.name));
    }
    finish(header, std::move(entries), options.prefix);
    header.notes.reserve(archive.left_out.size());
    for (const LeftOut& each : archive.left_out) {
        header.notes.push_back(fmt::format("{} is left out: {}", in_quotes(each.name), each.reason));
    }
    header.problems = std::move(archive.problems);
    return header;
}

}  // namespace tensorfs::numpy
