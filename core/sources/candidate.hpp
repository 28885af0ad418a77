#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/formats.hpp"
#include "core/sources/index.hpp"
#include "core/sources/set_name.hpp"

namespace tensorfs {

/// A set of shards that a folder could be taken for.
struct Candidate {
    const Format* format;
    SetName name;
    std::string subfolder;            // in which it lies, with a slash behind; "" for the folder itself
    std::string index_name;           // file name; "" for a set without an index
    std::optional<Index> index;       // nothing if it could not be read
    std::vector<std::string> shards;  // without an index: those that are there, relative to the folder
    bool is_sidecar = false;          // such as a projector, which belongs to a model
    bool is_in_pieces = false;        // each file has a piece of each tensor

    [[nodiscard]] bool has_index() const { return !index_name.empty(); }
    [[nodiscard]] const std::string& title() const { return has_index() ? index_name : shards.front(); }
    /// Whether it is of a variant that is asked for, by its name or, of quantisations, its folder's.
    [[nodiscard]] bool is_of(std::string_view variant) const;
    /// Whether a shard is one of those that the index names; by its name where that is not known.
    [[nodiscard]] bool names(const std::string& shard) const;
};

/// All sets in a folder with these names: by indexes, and of the shards that no index names. Quantisations may lie
/// in folders of their own, too, as long as no folder there has anything else. Throws Error (SystemError).
std::vector<Candidate> all_candidates(const std::string& folder, const std::vector<std::string>& names,
                                      std::span<const Format> formats);

/// The names of all shards of a set without an index, also of those that are not there: a split of three has three.
/// Shards are numbered from 1, or from 0.
std::vector<std::string> all_shards(const Candidate& candidate);

/// The shards that a file's name alone stands for: those of its split where it is the first part of one and its format
/// has it so; else only itself.
std::vector<std::string> shards_behind(const std::string& file_name, std::span<const Format> formats);

}  // namespace tensorfs
