#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/index.hpp"

namespace tensorfs {

/// Which files make up a model. Nothing of the shards has been read yet.
struct Source {
    std::string path;                 // as the user gave it
    std::string folder;               // what the shards' names are relative to, as the user gave it
    std::string absolute_folder;      // the same from the root, its symbolic links as they are
    std::vector<std::string> shards;  // each once, by name
    std::optional<Index> index;       // which tensor is in which shard, where an index says so
    std::string index_path;           // as the user gave it; empty where there is none

    /// A shard's path as the user would write it, to open it and for messages.
    [[nodiscard]] std::string shard_path(const std::string& shard) const { return join(folder, shard); }
    /// A shard's path from the root, for programs that open it themselves.
    [[nodiscard]] std::string absolute_shard_path(const std::string& shard) const {
        return join(absolute_folder, shard);
    }
    /// The source itself, from the root.
    [[nodiscard]] std::string absolute_path() const;

    static std::string join(const std::string& folder, const std::string& name);
};

/// Finds the model at `path`:
///  - a file ending in .json is an index, and the shards are those that it names;
///  - any other file is the only shard, whatever it is called;
///  - a folder with an index is what the index says, whatever else lies in it. Its index is
///    model.safetensors.index.json if it has one of that name, else its only *.safetensors.index.json;
///  - a folder without an index is all of its *.safetensors files.
/// Throws Error: NoSuchSource, NotAModel, AmbiguousSource, NotRegularFile, what Index::read throws,
/// or SystemError.
Source find_source(const std::string& path);

}  // namespace tensorfs
