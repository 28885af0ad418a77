#include "core/formats/pytorch/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/base/escape.hpp"
#include "core/formats/pickle/globals.hpp"
#include "core/formats/pytorch/allowed.hpp"
#include "core/formats/pytorch/selection.hpp"
#include "core/formats/pytorch/walk.hpp"

namespace tensorfs::pytorch {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

/// Globals that are called though no instruction says so: by _rebuild_from_type, which gets a function and a
/// class, and as a class that stands in a persistent id.
std::set<Name> called_by_others(const pickle::Pickle& pickle) {
    std::set<Name> names;
    const auto add = [&](pickle::Handle value) {
        if (pickle.type(value) != pickle::Type::global) return;
        const auto [module, name] = pickle.global(value);
        names.emplace(module, name);
    };
    for (std::uint32_t i = 0; i < pickle.nodes(); ++i) {
        const pickle::Handle value = pickle::Pickle::node(i);
        if (pickle.type(value) != pickle::Type::call) continue;
        const pickle::Handle callee = class_of(pickle, pickle.callee(value));
        if (callee != pickle.callee(value)) add(callee);
        if (pickle.type(callee) != pickle::Type::global || maker_of(pickle.global(callee)) != Maker::from_type)
            continue;
        for (const pickle::Handle argument : pickle.items(pickle.arguments(value)).first(2)) add(argument);
    }
    return names;
}

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
    const std::size_t others = checkpoint.left_out.size() - 1;
    return fmt::format("none of its tensors can be shown: {}: {}{}", in_quotes(first.name), first.why,
                       others == 0 ? "" : fmt::format(", and {} more", others));
}

}  // namespace

void add_code(Checkpoint& checkpoint, const pickle::Pickle& pickle) {
    const std::set<Name> handed_on = called_by_others(pickle);
    std::unordered_map<std::string, std::size_t> positions;
    for (std::size_t i = 0; i < checkpoint.code.size(); ++i) positions.emplace(checkpoint.code[i].name, i);
    for (const pickle::GlobalUse& use : pickle::globals_of(pickle)) {
        if (is_allowed(use.module, use.name)) continue;
        const bool is_called = use.is_called || handed_on.count({use.module, use.name}) != 0;
        // PyTorch takes what is called so for a class of storages by its name, and does not look it up.
        if (!is_called && use.name.find("Storage") != std::string_view::npos) continue;
        const auto [known, is_new] =
            positions.try_emplace(fmt::format("{}.{}", use.module, use.name), checkpoint.code.size());
        if (is_new) checkpoint.code.push_back({known->first, false});
        Code& code = checkpoint.code[known->second];
        code.is_called = code.is_called || is_called;
    }
}

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
