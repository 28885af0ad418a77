#include "core/formats/pytorch/selection.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/base/escape.hpp"
#include "core/formats/pytorch/containers.hpp"
#include "core/formats/pytorch/tensors.hpp"

namespace tensorfs::pytorch {
namespace {

using pickle::Handle;
using pickle::Pickle;

/// The first keys of containers in `parent`, in quotes.
std::string keys_in(const Pickle& pickle, Handle parent) {
    constexpr std::size_t most = 20;
    std::string list, scratch;
    std::size_t count = 0;
    for (const Child& child : children(pickle, parent)) {
        if (is_tensor(pickle, child.value) || children(pickle, child.value).empty()) continue;
        const std::optional<std::string_view> key = key_text(pickle, child.key, scratch);
        if (!key) continue;
        if (count++ >= most) continue;
        if (!list.empty()) list += ", ";
        list += in_quotes(*key);
    }
    if (count == 0) return "nothing there can be chosen";
    if (count > most) list += fmt::format(" and {} more", count - most);
    return "there are " + list;
}

struct Match {
    Handle value;
    std::size_t size = 0;  // of the part of the key that is used up
};

/// The child whose key is the longest beginning of `key`.
std::optional<Match> match(const Pickle& pickle, Handle parent, std::string_view key) {
    std::optional<Match> best;
    std::string scratch;
    for (const Child& child : children(pickle, parent)) {
        const std::optional<std::string_view> part = key_text(pickle, child.key, scratch);
        if (!part || !key.starts_with(*part)) continue;
        if (part->size() != key.size() && key[part->size()] != '.') continue;
        if (!best || part->size() >= best->size) best = Match{child.value, part->size()};
    }
    return best;
}

}  // namespace

Selection select(const Pickle& pickle, std::string_view key) {
    Handle value = pickle.root();
    std::string_view rest = key;
    for (bool is_first = true; !rest.empty() || (!is_first && key.ends_with('.')); is_first = false) {
        const std::string_view above = key.substr(0, key.size() - rest.size());
        const std::string place = is_first ? "the checkpoint" : in_quotes(above.substr(0, above.size() - 1));
        const std::optional<Match> found = match(pickle, value, rest);
        if (!found) return {{}, fmt::format("{} has no {}: {}", place, in_quotes(rest), keys_in(pickle, value))};
        value = found->value;
        if (found->size == rest.size()) break;
        rest.remove_prefix(found->size + 1);
    }
    if (!key.empty() && (is_tensor(pickle, value) || children(pickle, value).empty())) {
        return {{}, fmt::format("{} is no dict, list or module with something in it", in_quotes(key))};
    }
    return {value, {}};
}

}  // namespace tensorfs::pytorch
