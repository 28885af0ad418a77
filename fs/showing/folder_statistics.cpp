#include "fs/showing/folder_statistics.hpp"

#include <unordered_map>
#include <utility>

#include "core/model/tree.hpp"

namespace tensorfs {

std::vector<FolderStatistics> folder_statistics(const Model& model, std::string_view separators,
                                                const std::vector<std::uint32_t>& selected,
                                                const std::vector<Statistics>& measured, std::uint64_t depth) {
    const Tree tree(model, separators);
    std::vector<const Statistics*> of_tensor(model.tensors().size());
    for (std::size_t i = 0; i < selected.size(); ++i) of_tensor[selected[i]] = &measured[i];

    std::unordered_map<Tree::Position, FolderStatistics> folders;
    std::vector<std::uint32_t> depths(tree.size());  // (a parent stands before its children)
    for (Tree::Position node = 1; node < tree.size(); ++node) depths[node] = depths[tree.parent(node)] + 1;
    for (Tree::Position node = 0; node < tree.size(); ++node) {
        if (tree.is_folder(node) || of_tensor[tree.tensor(node)] == nullptr) continue;
        for (Tree::Position at = node; at != Tree::root;) {
            at = tree.parent(at);
            if (depths[at] > depth) continue;
            FolderStatistics& folder = folders[at];
            ++folder.tensors;
            folder.nbytes += model.tensors()[tree.tensor(node)].nbytes();
            folder.statistics.add(*of_tensor[tree.tensor(node)]);
        }
    }
    // Depth first, as a person reads a tree.
    std::vector<FolderStatistics> all;
    const auto visit = [&](const auto& self, Tree::Position node) -> void {
        const auto found = folders.find(node);
        if (found == folders.end()) return;
        found->second.path = tree.path(node);
        all.push_back(std::move(found->second));
        const Tree::Folder& folder = tree.folder(node);
        for (std::uint32_t i = 0; i < folder.count; ++i) {
            if (tree.is_folder(folder.first + i)) self(self, folder.first + i);
        }
    };
    visit(visit, Tree::root);
    return all;
}

}  // namespace tensorfs
