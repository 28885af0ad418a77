#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fs/volume/volume.hpp"

namespace tensorfs {

// Extended attributes, in the namespace that ordinary users may read:
//
//   file that shows a tensor   user.tensor.{dtype,name,nbytes,offset,shape,shard}
//   folder above tensors       user.tensor.{count,nbytes,parameters}
//   the root, besides          user.model.{nbytes,parameters,shards,source,tensors},
//                              user.model.metadata.KEY, user.tensorfs.stats
//
// In KEY, `%` and what rule 3 of names.hpp escapes is escaped. Where shards disagree on a key, the
// first that has it counts; .tensorfs/metadata.json has them all. Keys whose attribute's name would
// be too long for Linux (255 bytes) are left out, and those that would not fit the list (64 KiB) are
// not listed.

/// The name of the one attribute that changes; its value is not known here.
inline constexpr std::string_view stats_attribute = "user.tensorfs.stats";

/// The value of a node's attribute; nothing if the node has none of that name.
std::optional<std::string> xattr(const Volume& volume, const Node& node, std::string_view name);

/// The names of a node's attributes, each ended by NUL, as listxattr(2) gives them.
std::string xattr_names(const Volume& volume, const Node& node);

}  // namespace tensorfs
