#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model.hpp"

namespace tensorfs {

/// Whether a shell pattern (`*`, `?`, `[…]`, where `*` stands for dots and slashes, too) matches a
/// tensor's full name.
bool matches(std::string_view full_name, const std::string& pattern);

/// Positions in Model::tensors(), in data order, of those that some pattern matches; all of them
/// where there is no pattern. Throws Failure (no_source) for a pattern that matches none.
std::vector<std::uint32_t> select_tensors(const Model& model, const std::vector<std::string>& patterns);

}  // namespace tensorfs
