#pragma once

#include <functional>
#include <string>

#include "core/model/model.hpp"
#include "fs/options/options.hpp"

namespace tensorfs {

/// Finds, loads and maps the model to be mounted. Notes, each a printable sentence, go to `say`. Throws Error.
Model load_and_map(const std::string& source, const MountOptions& options,
                   const std::function<void(const std::string&)>& say);

/// The name under which to reload a source from any working folder: an absolute path with symbolic links kept, so that
/// a link that is changed leads to another model; for a Hub id, its folder in the Hub's cache.
std::string source_from_anywhere(const std::string& source);

/// What the system shows as the source: a path as it was given, made absolute; a Hub id as it was given. It is what
/// fstab has, so that `mount -a` knows the mount again; a snapshot's folder would be neither that nor stay the same.
std::string source_to_show(const std::string& source);

}  // namespace tensorfs
