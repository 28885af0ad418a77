#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/model.hpp"
#include "core/model/tree.hpp"
#include "core/tensors/content.hpp"
#include "fs/volume/hidden.hpp"
#include "fs/volume/node.hpp"

namespace tensorfs {

/// A mounted model as a namespace: which nodes there are, how they hang together and what they
/// hold. Any number of threads may ask. Nothing throws but what needs made bytes (node() and
/// lookup() of a file in .tensorfs, content()): std::bad_alloc, and Error where a shard has to be read
/// again for them and cannot be.
class Volume {
public:
    /// Takes a model that is mapped. `separators`: see names.hpp.
    Volume(Model model, std::string_view separators);

    [[nodiscard]] const Model& model() const { return model_; }
    [[nodiscard]] const Tree& tree() const { return tree_; }
    /// 512-byte blocks that all tensors take, each by itself, as du counts them.
    [[nodiscard]] std::uint64_t blocks() const { return blocks_; }

    /// What is known of a node; nothing for a number that none has.
    [[nodiscard]] std::optional<Node> node(Inode inode) const;
    /// The entry `name` of a folder, .tensorfs in the root among them.
    [[nodiscard]] std::optional<Node> lookup(Inode folder, std::string_view name) const;
    /// The folder that a node is in; the root's is the root.
    [[nodiscard]] Inode parent(Inode inode) const;

    /// One of a folder's entries as a listing shows it.
    struct Entry {
        std::string_view name;
        Inode inode;
        bool is_folder;
        bool is_made;  // finding out its size would mean making it
    };
    /// Entry number `index` of a folder; its name is a view of the volume's, or of `storage`.
    /// REQUIRES: index < Node::entries of that folder.
    [[nodiscard]] Entry entry(Inode folder, std::uint32_t index, std::string& storage) const;

    /// What a file holds: `storage`, which is set to it, or a content that the volume keeps.
    /// REQUIRES: node is a file of this volume.
    [[nodiscard]] const Content& content(const Node& node, Content& storage) const;

private:
    [[nodiscard]] Node tree_node(View view, const Tree& tree, Tree::Position position) const;
    [[nodiscard]] const Tree* tree_of(View view) const;
    [[nodiscard]] timespec newest() const;

    Model model_;
    Tree tree_;
    Hidden hidden_;
    std::uint64_t blocks_ = 0;
    mutable std::once_flag flat_once_;
    mutable std::unique_ptr<const Tree> flat_;
};

}  // namespace tensorfs
