#pragma once

// How models lie in a folder. A *set* is the shards of one model, with an index or without. How the files are named is
// told by set_name.hpp, with what core/formats/file_names.hpp says of each format.
//
//  - An index is a file of the name BASE[.VARIANT].safetensors.index.json and its like; and any *.index.json whose
//    weight_map names a format's files.
//  - Without an index, BASE[.VARIANT]-00001-of-00003.safetensors and its like are one set, as is
//    BASE[.VARIANT].safetensors. Files that an index names belong to its set alone.
//  - Sets of quantisations may lie in folders of their own, where there is nothing else.
//
// Which set is meant where there are several, in this order:
//  1. `index` chooses the index of that name, and nothing else.
//  2. Models go before what belongs to one: projectors, adapters, importance matrices and vocabularies of GGUF.
//  3. `variant` chooses sets of that variant.
//  4. Formats go in the order of their table: safetensors first.
//  5. Without `variant`, sets that have none go first, if there are any; but quantisations are of equal rank.
//  6. A set with an index goes before those without.
//  7. Of well-known bases the first that is there: for safetensors model, diffusion_pytorch_model, consolidated,
//     adapter_model, pytorch_lora_weights.
//  8. Single files without an index and a variant are taken together where the format has such: a folder of loose
//     shards.
//  9. Otherwise it is ambiguous, and all candidates are named.
// Where a rule passed something over, a note says what. Sets whose files each hold a piece of the same tensors, as
// consolidated.00.pth and consolidated.01.pth do, are refused.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/formats.hpp"
#include "core/sources/choice.hpp"
#include "core/sources/index.hpp"

namespace tensorfs {

/// The set that a folder shows.
struct ShardSet {
    std::vector<std::string> shards;  // names relative to the folder, each once
    std::optional<Index> index;       // where it has one
    std::string index_name;           // relative to the folder
    std::string instead;              // a file there that is a model by itself, should shards be missing; or ""
    std::vector<std::string> notes;   // what was passed over, a sentence each
};

/// Finds the set in a folder that has these names; nothing where there is none. Throws Error:
/// AmbiguousSource, NoSuchSource where `choice` asks for what is not there, DuplicateName for pieces of the same
/// tensors, or what Index::read throws.
std::optional<ShardSet> find_shards(const std::string& folder, const std::vector<std::string>& names,
                                    const Choice& choice, std::span<const Format> formats = tensorfs::formats());

}  // namespace tensorfs
