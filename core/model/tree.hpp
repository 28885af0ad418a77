#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/large_pages.hpp"
#include "core/model/model.hpp"

namespace tensorfs {

/// The tensors' names as an immutable tree of folders and files, made by the rules in names.hpp and
///
///  5. names that still meet on one path are told apart, in byte order of the names: the first
///     keeps the path, the others get `~2`, `~3`, … behind the segment where they meet. (Folders
///     that meet are one folder; a file and a folder are told apart.)
///
/// The components of a pipeline are folders in the root, whatever cuts names.
///
/// It is a table: node 0 is the root, the children of a folder stand side by side in natural order,
/// and all nodes of one depth stand before those of the next. Which position a node has follows
/// from the names alone. About 24 bytes a node and 40 a folder; names are views of the model's
/// where they can be, so the model must outlive the tree.
class Tree {
public:
    using Position = std::uint32_t;
    static constexpr Position root = 0;

    /// What is below a folder.
    struct Folder {
        Position first = 0;            // its children are first … first + count - 1
        std::uint32_t count = 0;       // children
        std::uint32_t folders = 0;     // children that are folders
        std::uint32_t tensors = 0;     // tensors at any depth
        std::uint32_t newest = 0;      // of their shards, the one that was modified last
        std::uint64_t parameters = 0;  // elements of these tensors
        std::uint64_t nbytes = 0;      // bytes of these tensors
    };

    /// `separators` is the set of bytes at which names are cut; empty for one flat folder.
    Tree(const Model& model, std::string_view separators);

    /// All nodes, folders and files.
    [[nodiscard]] Position size() const { return static_cast<Position>(nodes_.size()); }
    [[nodiscard]] bool is_folder(Position node) const { return nodes_[node].is_folder; }
    /// The root is its own parent.
    [[nodiscard]] Position parent(Position node) const { return nodes_[node].parent; }
    /// The node's file name: 1 to 255 bytes, without '/' and NUL; empty for the root only.
    [[nodiscard]] std::string_view name(Position node) const { return nodes_[node].name(); }
    /// The node's path from the root: names joined by '/'; empty for the root.
    [[nodiscard]] std::string path(Position node) const;
    /// REQUIRES: is_folder(node).
    [[nodiscard]] const Folder& folder(Position node) const { return folders_[nodes_[node].index]; }
    /// Position of the file's tensor in Model::tensors(). REQUIRES: !is_folder(node).
    [[nodiscard]] std::uint32_t tensor(Position node) const { return nodes_[node].index; }
    /// The child of `folder` that has this name, if there is one. REQUIRES: is_folder(folder).
    [[nodiscard]] std::optional<Position> child(Position folder, std::string_view name) const;

private:
    friend class TreeBuilder;

    struct Node {
        const char* text;
        Position parent;
        std::uint32_t index;  // in folders_, or of the tensor
        std::uint8_t size;
        bool is_folder;
        [[nodiscard]] std::string_view name() const { return {text, size}; }
    };

    LargeVector<Node> nodes_;
    LargeVector<Folder> folders_;
    std::deque<std::string> made_names_;  // the names that are no views of the model's
};

}  // namespace tensorfs
