#pragma once

#include <string>

namespace tensorfs {

/// "FOLDER/NAME"; just NAME where the folder is "".
std::string join_path(const std::string& folder, const std::string& name);

/// `path` from the root, without ".", ".." and a trailing slash. Its symbolic links are left as they
/// are, but for those before a "..", which leads up from where they lead.
std::string absolute_path(const std::string& path);

}  // namespace tensorfs
