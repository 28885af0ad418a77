#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.hpp"

namespace tensorfs {

/// Shell patterns that select tensors by full name: `*`, which matches dots and slashes too, `?` and `[…]`. Remembers
/// which of them have matched.
class Patterns {
public:
    explicit Patterns(const std::vector<std::string>& patterns) : patterns_(patterns), has_match_(patterns.size()) {}

    /// Whether a pattern matches, or there are none.
    [[nodiscard]] bool select(std::string_view full_name);
    /// Throws Failure (no_source) if a pattern has matched nothing.
    void check_all_matched() const;

private:
    const std::vector<std::string>& patterns_;
    std::vector<bool> has_match_;
};

/// Indices in Model::tensors(), in data order, of those that a pattern matches; of all, if there are no patterns.
/// Throws Failure (no_source) if a pattern matches nothing.
std::vector<std::uint32_t> select_tensors(const Model& model, const std::vector<std::string>& patterns);

}  // namespace tensorfs
