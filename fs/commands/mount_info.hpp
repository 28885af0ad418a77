#pragma once

#include <string>

namespace tensorfs {

/// Whether a path is where tensorfs is mounted, the daemon being there or not.
bool is_mountpoint(const std::string& path);

/// What a mount shows and how it is used, by its root's attributes: for people, or as a JSON object. Throws
/// Failure (mountpoint) where its daemon does not answer, and (internal) if it is another version's.
std::string mount_info_text(const std::string& mountpoint);
std::string mount_info_json(const std::string& mountpoint);

}  // namespace tensorfs
