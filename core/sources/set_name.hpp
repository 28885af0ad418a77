#pragma once

// What the name of a file in a model's folder says.
//
//  - A shard is BASE[.VARIANT][-00001-of-00003].SUFFIX, where the variant may stand behind the number, too. Variants
//    are well-known words, such as fp16 or non_ema, or quantisations, such as Q4_K_M; behind a number, any word.
//  - An index is BASE[.VARIANT].SUFFIX.index.json, BASE.SUFFIX.index.VARIANT.json or BASE.SUFFIX.VARIANT.index.json; or
//    any *.index.json, of which only its content tells whether it is one.
//  - Names that begin with a dot do not count, nor do .incomplete, .lock and the like.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/formats/formats.hpp"

namespace tensorfs {

/// The parts of a file name that belongs to a set of shards.
struct SetName {
    std::string base;
    std::string variant;                  // "" for none
    unsigned long number = 0, count = 0;  // of "-00001-of-00003"; 0 where it is a single file
    bool operator==(const SetName&) const = default;
};

/// The parts of the name of a format's shard or index; nothing for any other file.
std::optional<SetName> parse_shard_name(std::string_view name, const FileNames& files);
std::optional<SetName> parse_index_name(std::string_view name, const FileNames& files);

/// The format whose index a file is by its name; null where only its content can tell.
const Format* format_of_index(std::string_view name, std::span<const Format> formats);

/// Whether a name is of a variant that is asked for. Any word that a base ends with is one if it is asked for.
bool is_of_variant(const SetName& name, std::string_view variant, Variants variants);
/// The same for an index or a shard of any of the formats.
bool is_of_variant(std::string_view file, std::string_view variant, std::span<const Format> formats);

/// Whether a name without its suffix fits one of a format's patterns.
bool fits(std::string_view stem, std::string_view pattern);
bool fits_any(std::string_view stem, std::span<const std::string_view> patterns);

/// The name of another part of the split that `name` is a part of, spelt alike. REQUIRES: `name` has a number.
std::string with_number(std::string_view name, unsigned long number);

}  // namespace tensorfs
