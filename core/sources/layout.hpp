#pragma once

// How models lie in a folder. A *set* is the shards of one model, with an index or without.
//
//  - An index is a file of the name BASE[.VARIANT].safetensors.index.json, with the variant also as in
//    BASE.safetensors.index.VARIANT.json and BASE.safetensors.VARIANT.index.json; and any *.index.json
//    whose weight_map names .safetensors files (one of a .bin checkpoint is none).
//  - VARIANT is a well-known word, such as fp16 or non_ema; in the second and third form of an index's
//    name, and where the user asks for it, any word.
//  - Without an index, BASE[.VARIANT]-00001-of-00003.safetensors and its like are one set, as is
//    BASE[.VARIANT].safetensors. Files that an index names belong to its set alone.
//  - Names that begin with a dot do not count, nor do .incomplete, .lock and the like.
//
// Which set is meant where there are several, in this order:
//  1. `index` chooses the index of that name, and nothing else.
//  2. `variant` chooses sets of that variant; without it, sets that have none, if there are any.
//  3. A set with an index goes before those without.
//  4. Of well-known bases the first that is there: model, diffusion_pytorch_model, consolidated,
//     adapter_model, pytorch_lora_weights.
//  5. Single files without an index and a variant are taken together: a folder of loose shards.
//  6. Otherwise it is ambiguous, and all candidates are named.
// Where a rule passed something over, a note says what.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sources/index.hpp"

namespace tensorfs {

/// What the user says of which model is meant.
struct Choice {
    std::string index;    // the name of an index file in the folder; "" leaves it to the rules
    std::string variant;  // such as "fp16"
};

/// The set that a folder shows.
struct ShardSet {
    std::vector<std::string> shards;  // names relative to the folder, each once
    std::optional<Index> index;       // where it has one
    std::string index_name;           // relative to the folder
    std::vector<std::string> notes;   // what was passed over, a sentence each
};

/// Names in a folder, without those that begin with a dot, in natural order. Throws Error.
std::vector<std::string> names_in(const std::string& folder);

/// Finds the set in a folder that has these names; nothing where there is none. Throws Error:
/// AmbiguousSource, NoSuchSource where `choice` asks for what is not there, or what Index::read
/// throws.
std::optional<ShardSet> find_shards(const std::string& folder, const std::vector<std::string>& names,
                                    const Choice& choice);

/// The parts of a file name that belongs to a set.
struct SetName {
    std::string base;
    std::string variant;                  // "" for none
    unsigned long number = 0, count = 0;  // of "-00001-of-00003"; 0 where it is a single file
    bool operator==(const SetName&) const = default;
};

/// The parts of the name of an index or a shard; nothing for any other file.
std::optional<SetName> parse_index_name(std::string_view name);
std::optional<SetName> parse_shard_name(std::string_view name);

/// Whether an index or a shard is of a variant that is asked for.
bool is_of_variant(std::string_view file, std::string_view variant);

}  // namespace tensorfs
