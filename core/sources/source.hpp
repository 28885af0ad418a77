#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/sources/index.hpp"
#include "core/sources/layout.hpp"

namespace tensorfs {

/// A set of shards that is a model by itself: all of it, or one part of a pipeline.
struct Component {
    std::string name;                 // its folder in the mount's root; "" where it is all there is
    std::string folder;               // where its shards are, as the user would write it
    std::vector<std::string> shards;  // relative to the folder, each once
    std::optional<Index> index;       // which tensor is in which shard, where an index says so
    std::string index_path;           // as the user would write it; "" where there is none
    std::string instead{};            // the path of a whole model beside it, should shards be missing; or ""
};

/// Which files make up a model. Nothing of the shards has been read yet.
struct Source {
    std::string path;                   // as the user gave it
    std::string location;               // the file or folder that it led to, from the root
    std::string key;                    // the part of each shard that is meant, of formats that nest; "" for all
    std::vector<Component> components;  // at least one; by name + '/', in byte order
    std::vector<std::string> notes;     // what deserves a word, a sentence each
    std::vector<Problem> problems;      // what is wrong with components that could not be used
};

/// What the user may say besides the path.
struct SourceOptions {
    Choice choice;         // see layout.hpp
    std::string revision;  // of a model in the Hub's cache: see hub.hpp
    std::string key{};     // of nested formats: the part that is taken as the whole, such as "model.ema"
};

/// Finds the model at `path`:
///  - a file whose name ends in .json is an index, and the shards are those that it names;
///  - the first part of a split GGUF model stands for the split;
///  - any other file is the only shard, whatever it is called. There is nothing to choose in a file,
///    and `options` must be empty but for the key;
///  - a folder models--ORG--NAME of the Hub's cache stands for one of its snapshots (hub.hpp);
///  - a folder with model_index.json is a pipeline: each folder in it that has a set of shards is a
///    component. What lies beside them is passed over, with a note. A component whose index is bad
///    is a problem for who loads the rest;
///  - any other folder is the set of shards that layout.hpp finds in it; or, where it has none, a
///    pipeline of the folders in it that have;
///  - what is no path but can be a Hub id, such as "org/name", is looked up in the Hub's cache.
/// Only files of the `formats` count in folders, and the source must not outlive them.
/// Throws Error: NoSuchSource, NotAModel, AmbiguousSource, NotRegularFile, what find_shards or Index::read throws,
/// or SystemError.
Source find_source(const std::string& path, const SourceOptions& options = {},
                   std::span<const Format> formats = tensorfs::formats());

}  // namespace tensorfs
