#include "core/formats/pytorch/named_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/formats/pytorch/selection.hpp"
#include "core/formats/pytorch/walk.hpp"

namespace tensorfs::pytorch {
namespace {

/// Makes a problem of each name that an earlier tensor has, and takes the tensor away.
void refuse_twins(Checkpoint& checkpoint, const std::string& path) {
    std::vector<std::uint32_t> order(checkpoint.tensors.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto name = [&](std::uint32_t at) { return checkpoint.name(checkpoint.tensors[at]); };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        const int comparison = name(a).compare(name(b));
        return comparison != 0 ? comparison < 0 : a < b;
    });
    std::vector<bool> is_twin(order.size());
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (name(order[i - 1]) != name(order[i])) continue;
        is_twin[order[i]] = true;
        if (i >= 2 && is_twin[order[i - 1]]) continue;  // one problem a name
        if (checkpoint.problems.size() >= 2 * max_told) throw Error(std::move(checkpoint.problems));
        checkpoint.problems.push_back(
            {Kind::DuplicateName, path, std::string(name(order[i])), "two ways through the checkpoint give this name"});
    }
    std::size_t at = 0;
    const auto end = std::remove_if(checkpoint.tensors.begin(), checkpoint.tensors.end(),
                                    [&](const Found&) { return static_cast<bool>(is_twin[at++]); });
    checkpoint.tensors.erase(end, checkpoint.tensors.end());
}

/// Why nothing is shown.
std::string nothing_to_show(const Checkpoint& checkpoint) {
    if (checkpoint.left_out.empty()) return "no tensor in it has a name: it is no state dict, nor does it hold one";
    const LeftOut& first = checkpoint.left_out.front();
    const std::uint64_t others = checkpoint.left_out.size() - 1 + checkpoint.more_left_out;
    return fmt::format("none of its tensors can be shown: {}: {}{}", in_quotes(first.name), first.why,
                       others == 0 ? "" : fmt::format(", and {} more", others));
}

}  // namespace

void add_tensors(Checkpoint& checkpoint, const pickle::Pickle& pickle, const Storages& storages, std::string_view key,
                 const std::string& path) {
    Selection selection = select(pickle, key);
    if (!selection.problem.empty()) throw Error({Kind::NotAModel, path, {}, std::move(selection.problem)});
    walk(pickle, selection.value, storages, path, checkpoint);
    refuse_twins(checkpoint, path);
    if (checkpoint.tensors.empty() && checkpoint.problems.empty()) {
        throw Error({Kind::NotAModel, path, {}, nothing_to_show(checkpoint)});
    }
}

}  // namespace tensorfs::pytorch
