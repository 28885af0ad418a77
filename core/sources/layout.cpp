#include "core/sources/layout.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "core/base/path.hpp"
#include "core/sources/candidate.hpp"
#include "core/sources/chooser.hpp"

namespace tensorfs {
namespace {

ShardSet set_of_index(const std::string& folder, const std::vector<std::string>& names, const std::string& name,
                      std::span<const Format> formats) {
    if (std::find(names.begin(), names.end(), name) == names.end())
        throw Error({Kind::NoSuchSource, folder, {}, "it has no index " + in_quotes(name)});
    ShardSet set;
    set.index_name = name;
    set.index = Index::read(join_path(folder, name), index_formats(name, formats));
    set.shards = set.index->shards();
    return set;
}

}  // namespace

std::optional<ShardSet> find_shards(const std::string& folder, const std::vector<std::string>& names,
                                    const Choice& choice, std::span<const Format> formats) {
    if (!choice.index.empty()) return set_of_index(folder, names, choice.index, formats);
    std::vector<Candidate> candidates = all_candidates(folder, names, formats);
    if (candidates.empty()) return std::nullopt;
    Chooser chooser(folder, names, std::move(candidates), choice);
    Candidate chosen = chooser.choose();
    ShardSet set;
    if (chosen.has_index() && !chosen.index) {
        set = set_of_index(folder, names, chosen.index_name, formats);  // which could not be read, and now says why
    } else if (chosen.has_index()) {
        set.index_name = chosen.index_name;
        set.shards = chosen.index->shards();
    } else {
        set.shards = all_shards(chosen);
    }
    set.notes = chooser.notes(chosen);
    set.instead = chooser.instead_of(chosen);
    if (!set.index) set.index = std::move(chosen.index);
    return set;
}

}  // namespace tensorfs
