#pragma once

#include <string>
#include <vector>

#include "core/exporting/export.hpp"
#include "core/exporting/target_error.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

namespace tensorfs::tests {

inline const ExportWatch nobody{[](std::uint64_t) {}, [] { return false; }};

/// A plan for all tensors of a model.
inline ExportPlan plan_all(const Model& model, const ExportOptions& options = {}) {
    std::vector<std::uint32_t> all(model.tensors().size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    return plan_export(model, all, options);
}

inline Exported export_all(const Model& model, const std::string& path, const ExportOptions& options = {},
                           bool may_replace = false) {
    return export_model(model, plan_all(model, options), {path, may_replace, {}}, nobody);
}

/// What is said where a target is refused; "" where it is not.
template <typename Work>
std::string refusal_of(Work&& work) {
    try {
        work();
    } catch (const TargetError& e) {
        return e.what();
    }
    return {};
}

/// The names in a folder, also hidden ones, in order, each followed by a space.
inline std::string listing(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    std::string text;
    for (const std::string& name : names) text += name + ' ';
    return text;
}

}  // namespace tensorfs::tests
