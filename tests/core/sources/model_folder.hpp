#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/sources/folder.hpp"
#include "core/sources/source.hpp"
#include "tests/core/sources/format_lists.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

namespace tensorfs::tests {

using Names = std::vector<std::string>;

/// A folder with these files, which are empty; an index, told by its name, places one tensor in each shard of `map`.
class ModelFolder {
public:
    explicit ModelFolder(const Names& files, std::span<const Format> formats = only_safetensors) : formats_(formats) {
        for (const std::string& file : files) write_file(folder_ / file, "");
    }
    ModelFolder& index(const std::string& name, const Names& shards) {
        std::vector<std::pair<std::string, std::string>> map;
        for (const std::string& shard : shards) map.emplace_back("t" + std::to_string(map.size()), shard);
        write_file(folder_ / name, index_file(map));
        return *this;
    }

    [[nodiscard]] std::string path() const { return folder_.path().string(); }
    [[nodiscard]] std::string operator/(std::string_view name) const { return folder_ / name; }
    [[nodiscard]] std::optional<ShardSet> find(const Choice& choice = {}) const {
        return find_shards(path(), names_in(path()), choice, formats_);
    }
    [[nodiscard]] Source source(const Choice& choice = {}) const { return find_source(path(), {choice, ""}, formats_); }
    /// The shards of the set that is found; empty where there is none.
    [[nodiscard]] Names shards(const Choice& choice = {}) const {
        const auto set = find(choice);
        return set ? set->shards : Names{};
    }
    /// The shards of a source that is one set.
    [[nodiscard]] Names only_set(const Choice& choice = {}) const {
        const Source found = source(choice);
        REQUIRE(found.components.size() == 1);
        CHECK(found.components[0].name.empty());
        return found.components[0].shards;
    }
    /// What is said of it beside what is shown, as one text.
    [[nodiscard]] std::string notes(const Choice& choice = {}) const {
        std::string all;
        for (const std::string& note : source(choice).notes) all += note + '\n';
        return all;
    }
    [[nodiscard]] std::vector<Problem> refusal(const Choice& choice = {}) const {
        return problems_of([&] { static_cast<void>(source(choice)); });
    }

private:
    TemporaryFolder folder_;
    std::span<const Format> formats_;
};

}  // namespace tensorfs::tests
