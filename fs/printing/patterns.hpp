#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.hpp"

namespace tensorfs {

/// Shell patterns (`*`, `?`, `[…]`, where `*` stands for dots and slashes, too) that select tensors by
/// their full names, and which of them have selected any.
class Patterns {
public:
    explicit Patterns(const std::vector<std::string>& patterns) : patterns_(patterns), has_match_(patterns.size()) {}

    /// Whether some pattern matches, or there is none.
    [[nodiscard]] bool select(std::string_view full_name);
    /// Throws Failure (no_source) for a pattern that has matched nothing.
    void check_all_matched() const;

private:
    const std::vector<std::string>& patterns_;
    std::vector<bool> has_match_;
};

/// Positions in Model::tensors(), in data order, of those that some pattern matches; all of them
/// where there is no pattern. Throws Failure (no_source) for a pattern that matches none.
std::vector<std::uint32_t> select_tensors(const Model& model, const std::vector<std::string>& patterns);

}  // namespace tensorfs
