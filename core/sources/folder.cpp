#include "core/sources/folder.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/natural_order.hpp"

namespace tensorfs {

std::vector<std::string> names_in(const std::string& folder) {
    std::error_code error;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        std::string name = at->path().filename().string();
        if (!name.starts_with('.')) names.push_back(std::move(name));
    }
    if (error) throw Error(system_problem(folder, "cannot list the folder", error.value()));
    std::sort(names.begin(), names.end(), natural_less);
    return names;
}

}  // namespace tensorfs
