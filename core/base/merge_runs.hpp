#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"

namespace tensorfs {

/// Sorts `items`, which are sorted runs one behind the other, by merging neighbouring runs, in parallel, until one
/// is left. `ends[i]` is where run i ends, and the next begins; the last is items.size(). Stable.
template <typename Item, typename Less>
void merge_runs(std::vector<Item>& items, std::vector<std::size_t> ends, const Less& less) {
    std::vector<Item> merged(items.size());
    while (ends.size() > 1) {
        const std::size_t pairs = (ends.size() + 1) / 2;  // of an odd number, the last run has no partner
        const auto begin_of = [&](std::size_t run) { return run == 0 ? std::size_t{0} : ends[run - 1]; };
        const auto at = [](auto& where, std::size_t i) { return where.begin() + static_cast<std::ptrdiff_t>(i); };
        in_parallel(pairs, [&](std::size_t pair) {
            const std::size_t first = 2 * pair;
            const std::size_t begin = begin_of(first);
            const std::size_t middle = ends[first];
            const std::size_t end = first + 1 < ends.size() ? ends[first + 1] : middle;
            std::merge(at(items, begin), at(items, middle), at(items, middle), at(items, end), at(merged, begin), less);
        });
        for (std::size_t pair = 0; pair < pairs; ++pair) ends[pair] = ends[std::min(2 * pair + 1, ends.size() - 1)];
        ends.resize(pairs);
        items.swap(merged);
    }
}

}  // namespace tensorfs
