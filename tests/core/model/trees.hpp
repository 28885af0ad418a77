#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/tree.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

/// Shows paths where a check fails.
template <>
struct Catch::StringMaker<std::pair<const std::string, std::string>> {
    static std::string convert(const std::pair<const std::string, std::string>& path) {
        return Detail::stringify(path.first) + " at " + Detail::stringify(path.second);
    }
};

namespace tensorfs::tests {

/// A model of one shard whose tensors have these names and no elements, and its tree.
class Forest {
public:
    explicit Forest(const std::vector<std::string>& names, std::string_view separators = "./")
        : model_(make(names)), tree_(std::make_unique<Tree>(*model_, separators)) {}

    [[nodiscard]] const Model& model() const { return *model_; }
    [[nodiscard]] const Tree& tree() const { return *tree_; }

    /// Each tensor's path, by its name.
    [[nodiscard]] std::map<std::string, std::string> paths() const {
        std::map<std::string, std::string> paths;
        for (Tree::Position node = 0; node < tree_->size(); ++node) {
            if (tree_->is_folder(node)) continue;
            const std::string_view name = model_->tensors().at(tree_->tensor(node)).name();
            if (!paths.emplace(name, tree_->path(node)).second) throw std::runtime_error("a tensor is shown twice");
        }
        return paths;
    }

private:
    std::unique_ptr<Model> make(const std::vector<std::string>& names) const {
        std::vector<Sample> samples;
        for (const std::string& name : names) samples.push_back({name, "U8", {0}, ""});
        write_file(folder_ / "m.safetensors", safetensors_file(samples));
        return std::make_unique<Model>(load(folder_ / "m.safetensors"));
    }

    TemporaryFolder folder_;
    std::unique_ptr<Model> model_;
    std::unique_ptr<Tree> tree_;
};

/// Each tensor's path, by its name.
inline std::map<std::string, std::string> paths_of(const std::vector<std::string>& names,
                                                   std::string_view separators = "./") {
    return Forest(names, separators).paths();
}

}  // namespace tensorfs::tests
