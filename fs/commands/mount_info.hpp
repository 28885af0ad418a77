#pragma once

#include <string>

namespace tensorfs {

/// Whether tensorfs is mounted at just that path, even if its daemon is gone.
bool is_mountpoint(const std::string& path);

/// What a mount shows and how it is used, read from its root's attributes: for people, or as a JSON object. Throws
/// Failure (mountpoint) if its daemon does not answer, and (internal) if that is of another version.
std::string mount_info_text(const std::string& mountpoint);
std::string mount_info_json(const std::string& mountpoint);

}  // namespace tensorfs
