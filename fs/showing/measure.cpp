#include "fs/showing/measure.hpp"

#include <algorithm>

#include "core/base/parallel.hpp"
#include "core/numbers/element_reader.hpp"
#include "fs/terminal/progress.hpp"

namespace tensorfs {
namespace {

/// Elements that one thread takes at a time: some milliseconds' worth, and few stretches of even a huge model.
constexpr std::uint64_t stretch_elements = 8 << 20;

struct Stretch {
    std::size_t tensor;   // its place in the selection
    std::uint64_t first;  // in elements
    std::uint64_t count;
    Statistics statistics{};
};

}  // namespace

std::vector<Statistics> measure(const Model& model, const std::vector<std::uint32_t>& selected) {
    std::vector<Stretch> stretches;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < selected.size(); ++i) {
        const Tensor& tensor = model.tensors()[selected[i]];
        const std::uint64_t elements = tensor.elements();
        for (std::uint64_t first = 0; first < elements; first += stretch_elements)
            stretches.push_back({i, first, std::min(stretch_elements, elements - first)});
        total += tensor.nbytes();
    }
    Progress progress("stats", total);
    in_parallel(stretches.size(), [&](std::size_t i) {
        Stretch& stretch = stretches[i];
        const Tensor& tensor = model.tensors()[selected[stretch.tensor]];
        ElementReader(tensor, model.shards())
            .read(stretch.first, stretch.count, [&](std::uint64_t, std::span<const std::byte> elements) {
                stretch.statistics.add(statistics_of(tensor.dtype(), elements));
                progress.add(elements.size());
            });
    });
    // In order, so that sums are the same whenever the threads were done.
    std::vector<Statistics> all(selected.size());
    for (const Stretch& stretch : stretches) all[stretch.tensor].add(stretch.statistics);
    return all;
}

}  // namespace tensorfs
