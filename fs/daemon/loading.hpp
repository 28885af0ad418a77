#pragma once

#include <functional>
#include <string>

#include "core/model/model.hpp"
#include "fs/options/options.hpp"

namespace tensorfs {

/// Finds and loads what is to be mounted, and maps it. What deserves a word, printable and a sentence each,
/// goes to `say`. Throws Error.
Model load_and_map(const std::string& source, const MountOptions& options,
                   const std::function<void(const std::string&)>& say);

/// A source that was loaded, as it is to be looked up again from another working folder: a path from the root,
/// its symbolic links as they were typed, so that a link that was changed leads to another model; of an id, its
/// folder in the Hub's cache.
std::string source_from_anywhere(const std::string& source);

}  // namespace tensorfs
