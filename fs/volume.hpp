#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/content.hpp"
#include "core/model.hpp"
#include "core/tree.hpp"

namespace tensorfs {

/// A number in the inode: which way of looking at the model a node belongs to. The order is part of
/// the inode numbers, so a new one goes to the end; what it means stands in volume.cpp.
enum class View : std::uint8_t {
    raw,     // the tree itself: what the mount's root shows
    hidden,  // the folder .tensorfs and the files in it
    flat,    // .tensorfs/flat: the raw tensors in one folder, by full name
};

/// Which node: a view, and a position in what it numbers.
struct Inode {
    View view = View::raw;
    std::uint32_t position = 0;

    /// The number that the kernel knows it by; the root is 1, as FUSE asks.
    [[nodiscard]] std::uint64_t number() const {
        return std::uint64_t{static_cast<std::uint8_t>(view)} << 48 | (position + std::uint64_t{1});
    }
    static Inode from_number(std::uint64_t number) {
        return {static_cast<View>(number >> 48 & 0xFF), static_cast<std::uint32_t>((number & 0xFFFFFFFFFFFF) - 1)};
    }
    bool operator==(const Inode&) const = default;
};

/// What is known of a node: enough for its stat and its extended attributes.
struct Node {
    Inode inode;
    bool is_folder = false;
    std::uint64_t nbytes = 0;   // of a file
    std::uint32_t entries = 0;  // of a folder: names in it
    std::uint32_t folders = 0;  // of a folder: folders in it
    timespec modified{};
    const Tensor* tensor = nullptr;      // of a file that shows one
    const Tree::Folder* sums = nullptr;  // of a folder that tensors are below
};

/// A mounted model as a namespace: which nodes there are, how they hang together and what they
/// hold. Any number of threads may ask. Nothing throws but what needs made bytes (node() and
/// lookup() of a file in .tensorfs, content()): std::bad_alloc.
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
    /// Entry number `index` of a folder. REQUIRES: index < Node::entries of that folder.
    [[nodiscard]] Entry entry(Inode folder, std::uint32_t index) const;

    /// What a file holds. REQUIRES: node is a file of this volume.
    [[nodiscard]] Content content(const Node& node) const;

private:
    [[nodiscard]] Node tree_node(View view, const Tree& tree, Tree::Position position) const;
    [[nodiscard]] const Tree* tree_of(View view) const;
    [[nodiscard]] const Bytes& made(std::size_t row) const;
    [[nodiscard]] timespec newest() const;

    Model model_;
    Tree tree_;
    std::uint64_t blocks_ = 0;

    /// What is made when it is first asked for.
    struct Made {
        std::once_flag once;
        Bytes bytes;
    };
    mutable std::array<Made, 8> made_;
    mutable std::once_flag flat_once_;
    mutable std::unique_ptr<const Tree> flat_;
};

}  // namespace tensorfs
