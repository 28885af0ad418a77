#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/model.hpp"
#include "tests/support/catch.hpp"

// What the tests of several parts ask in the same way.

namespace tensorfs::tests {

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// What is found wrong: the problems of the Error that `work` throws. Empty if it throws none.
template <typename Work>
std::vector<Problem> problems_of(Work&& work) {
    try {
        work();
    } catch (const Error& e) {
        return e.problems();
    }
    return {};
}

/// The names of the problems' kinds, in order, each followed by a space.
inline std::string kinds(const std::vector<Problem>& problems) {
    std::string text;
    for (const Problem& problem : problems) text += std::string(to_string(problem.kind)) + ' ';
    return text;
}

/// The model at `path`, mapped.
inline Model load(const std::string& path) {
    Model model = Model::load(find_source(path));
    model.map();
    return model;
}

/// The model's tensor of that name; null if it has none.
inline const Tensor* find_tensor(const Model& model, std::string_view name) {
    for (const Tensor& tensor : model.tensors()) {
        if (tensor.name() == name) return &tensor;
    }
    return nullptr;
}

}  // namespace tensorfs::tests
