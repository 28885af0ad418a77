#include "core/base/path.hpp"

#include <filesystem>
#include <utility>

namespace tensorfs {

std::string join_path(const std::string& folder, const std::string& name) {
    if (folder.empty()) return name;
    return folder.ends_with('/') ? folder + name : folder + '/' + name;
}

std::string absolute_path(const std::string& path) {
    namespace fs = std::filesystem;
    fs::path absolute = fs::absolute(path.empty() ? "." : path);
    // Behind a symbolic link, ".." is not the name before it.
    fs::path followed;
    fs::path rest;
    for (const fs::path& part : absolute) {
        rest /= part;
        if (part == "..") followed = fs::weakly_canonical(followed / std::exchange(rest, {}));
    }
    absolute = (followed / rest).lexically_normal();
    const bool ends_in_slash = !absolute.has_filename() && absolute != absolute.root_path();
    return ends_in_slash ? absolute.parent_path().string() : absolute.string();
}

}  // namespace tensorfs
