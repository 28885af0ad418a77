#pragma once

#include <string>
#include <vector>

namespace tensorfs {

/// Names in a folder, without those that begin with a dot, in natural order. Throws Error (SystemError).
std::vector<std::string> names_in(const std::string& folder);

}  // namespace tensorfs
