#include "core/formats/pytorch/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/formats/pickle/globals.hpp"
#include "core/formats/pickle/syntax_error.hpp"
#include "core/formats/pytorch/allowed.hpp"
#include "core/formats/pytorch/storages.hpp"
#include "core/formats/pytorch/tables.hpp"

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
    for (std::uint32_t i = 0; i < pickle.nodes() && names.size() <= pickle::max_globals; ++i) {
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

void add_uses(Checkpoint& checkpoint, const pickle::Pickle& pickle, const std::vector<pickle::GlobalUse>& uses) {
    const std::set<Name> handed_on = called_by_others(pickle);
    std::unordered_map<std::string, std::size_t> positions;
    for (std::size_t i = 0; i < checkpoint.code.size(); ++i) positions.emplace(checkpoint.code[i].name, i);
    for (const pickle::GlobalUse& use : uses) {
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

}  // namespace

void add_code(Checkpoint& checkpoint, const pickle::Pickle& pickle) {
    const std::vector<pickle::GlobalUse> uses = pickle::globals_of(pickle);
    if (uses.size() > pickle::max_globals) throw pickle::SyntaxError("it would look up more objects than are read", 0);
    add_uses(checkpoint, pickle, uses);
}

void add_some_code(Checkpoint& checkpoint, const pickle::Pickle& pickle) {
    add_uses(checkpoint, pickle, pickle::globals_of(pickle));
}

std::vector<std::string> names_of(std::vector<Code> code) {
    std::stable_partition(code.begin(), code.end(), [](const Code& one) { return one.is_called; });
    std::vector<std::string> names;
    for (Code& one : code) names.push_back(std::move(one.name));
    return names;
}

}  // namespace tensorfs::pytorch
