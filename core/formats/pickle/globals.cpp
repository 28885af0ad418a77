#include "core/formats/pickle/globals.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace tensorfs::pickle {

std::vector<GlobalUse> globals_of(const Pickle& pickle) {
    std::vector<GlobalUse> uses;
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> positions;
    for (std::uint32_t i = 0; i < pickle.nodes(); ++i) {
        const Handle value = Pickle::node(i);
        if (pickle.type(value) != Type::global) continue;
        const auto [module, name] = pickle.global(value);
        const auto found = positions.find({module, name});
        if (found == positions.end() && uses.size() > max_globals) continue;
        const auto [known, is_new] = positions.try_emplace({module, name}, uses.size());
        if (is_new) uses.push_back({module, name, false});
        uses[known->second].is_called = uses[known->second].is_called || pickle.is_called(value);
    }
    return uses;
}

}  // namespace tensorfs::pickle
