#include "core/formats/header.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace tensorfs {
namespace {

/// How many numbers an entry has in Header::dims.
std::size_t numbers_of(const HeaderEntry& entry) {
    return entry.rank * (entry.layout == ElementLayout::strided ? 2 : 1);
}

/// Lets tensors of the same shape share it: a model has many tensors and few shapes.
void join_shapes(Header& header, std::vector<HeaderEntry>& entries) {
    constexpr std::size_t most_compared = 16;
    std::vector<std::uint64_t> joined;
    std::vector<std::pair<std::size_t, std::size_t>> shapes;  // where in `joined`, and how many numbers
    for (HeaderEntry& entry : entries) {
        const auto* const dims = header.dims.data() + entry.dims_at;
        const std::size_t count = numbers_of(entry);
        const auto last = shapes.end() - static_cast<std::ptrdiff_t>(std::min(shapes.size(), most_compared));
        const auto same = std::find_if(last, shapes.end(), [&](const auto& shape) {
            return shape.second == count && std::equal(dims, dims + count, joined.data() + shape.first);
        });
        if (same != shapes.end()) {
            entry.dims_at = same->first;
            continue;
        }
        entry.dims_at = joined.size();
        shapes.emplace_back(entry.dims_at, count);
        joined.insert(joined.end(), dims, dims + count);
    }
    header.dims = std::move(joined);
}

}  // namespace

void add_name(Header& header, HeaderEntry& entry, std::string_view prefix, std::string_view name) {
    header.names.insert(header.names.end(), prefix.begin(), prefix.end());
    entry.name_at = header.names.size();
    entry.name_size = name.size();
    header.names.insert(header.names.end(), name.begin(), name.end());
}

void sort_entries(Header& header, std::vector<HeaderEntry>& entries) {
    const auto name = [&](const HeaderEntry& entry) { return name_of(header, entry); };
    const auto in_data_order = [&](const HeaderEntry& a, const HeaderEntry& b) {
        return std::tuple(a.begin, a.end, name(a)) < std::tuple(b.begin, b.end, name(b));
    };
    if (!std::is_sorted(entries.begin(), entries.end(), in_data_order)) {  // most writers keep it
        std::sort(entries.begin(), entries.end(), in_data_order);
    }
    header.by_name.resize(entries.size());
    std::iota(header.by_name.begin(), header.by_name.end(), 0U);
    std::sort(header.by_name.begin(), header.by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(name(entries[a]), entries[a].name_at) < std::tuple(name(entries[b]), entries[b].name_at);
    });
}

void make_tensors(Header& header, std::vector<HeaderEntry> entries, std::uint64_t data_begin, std::size_t prefix) {
    join_shapes(header, entries);
    header.tensors.reserve(entries.size());
    for (const HeaderEntry& entry : entries) {
        const std::string_view full_name(header.names.data() + entry.name_at - prefix, prefix + entry.name_size);
        header.tensors.emplace_back(full_name, static_cast<std::uint16_t>(prefix), entry.dtype,
                                    Shape(header.dims.data() + entry.dims_at, entry.rank), data_begin + entry.begin,
                                    entry.end - entry.begin, entry.layout);
    }
}

}  // namespace tensorfs
