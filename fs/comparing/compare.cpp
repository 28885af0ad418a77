#include "fs/comparing/compare.hpp"

#include <algorithm>

#include "core/base/parallel.hpp"
#include "core/tensors/content.hpp"
#include "core/views/views.hpp"
#include "fs/terminal/progress.hpp"

namespace tensorfs {
namespace {

/// Elements that are compared at a time: a multiple of 256, so whole blocks of every type.
constexpr std::uint64_t stretch_elements = 256 << 10;

struct Stretch {
    std::size_t pair;
    std::uint64_t begin;  // in elements
    std::uint64_t count;
    Difference difference{};
};

/// Walks both models side by side.
std::vector<Pair> pairs_of(const Model& a, const Model& b) {
    std::vector<Pair> pairs;
    auto left = a.by_name().begin();
    auto right = b.by_name().begin();
    while (left != a.by_name().end() || right != b.by_name().end()) {
        const Tensor* x = left == a.by_name().end() ? nullptr : &a.tensors()[*left];
        const Tensor* y = right == b.by_name().end() ? nullptr : &b.tensors()[*right];
        if (x != nullptr && y != nullptr && x->full_name() != y->full_name()) {
            (x->full_name() < y->full_name() ? y : x) = nullptr;
        }
        if (x != nullptr) ++left;
        if (y != nullptr) ++right;
        pairs.push_back({x, y});
    }
    return pairs;
}

std::uint64_t nbytes_in_blocks(Dtype dtype, std::uint64_t elements) {
    return elements / block_of(dtype).elements * block_of(dtype).nbytes;
}

/// Reads elements as they lie.
void read(const Model& model, const Tensor& tensor, const Stretch& stretch, std::vector<std::byte>& into) {
    into.resize(nbytes_in_blocks(tensor.dtype(), stretch.count));
    read_range(raw_view(tensor), nbytes_in_blocks(tensor.dtype(), stretch.begin), into, model.shards());
}

void compare_all(const Model& a, const Model& b, Measure measure, std::vector<Pair>& pairs) {
    std::vector<Stretch> stretches;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (!pairs[i].is_in_both() || !pairs[i].is_compared()) continue;
        const std::uint64_t elements = pairs[i].a->elements();
        for (std::uint64_t begin = 0; begin < elements; begin += stretch_elements)
            stretches.push_back({i, begin, std::min(stretch_elements, elements - begin)});
        total += pairs[i].a->nbytes();
    }
    Progress progress("diff", total);
    in_parallel(stretches.size(), [&](std::size_t i) {
        thread_local std::vector<std::byte> left;
        thread_local std::vector<std::byte> right;
        Stretch& stretch = stretches[i];
        const Pair& pair = pairs[stretch.pair];
        read(a, *pair.a, stretch, left);
        read(b, *pair.b, stretch, right);
        stretch.difference = compare_elements(pair.a->dtype(), left, pair.b->dtype(), right,
                                              pair.has_same_dtype() ? measure : Measure::distances_and_own_squares);
        progress.add(left.size());
    });
    // In order, so that sums are the same whenever the threads were done.
    for (const Stretch& stretch : stretches) pairs[stretch.pair].difference.add(stretch.difference);
}

}  // namespace

bool Pair::has_same_shape() const {
    return std::equal(a->shape().begin(), a->shape().end(), b->shape().begin(), b->shape().end());
}

std::vector<Pair> compare(const Model& a, const Model& b, Measure measure) {
    std::vector<Pair> pairs = pairs_of(a, b);
    compare_all(a, b, measure, pairs);
    std::erase_if(pairs, [](const Pair& pair) {
        return pair.is_in_both() && pair.has_same_dtype() && pair.has_same_shape() && pair.difference.differing == 0;
    });
    return pairs;
}

}  // namespace tensorfs
