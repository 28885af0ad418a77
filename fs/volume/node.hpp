#pragma once

#include <time.h>

#include <cstdint>

#include "core/model/tree.hpp"
#include "core/views/view_table.hpp"

namespace tensorfs {

/// A number in the inode: which view of the model a node belongs to (view_table.hpp has the views' ids).
enum class View : std::uint8_t {
    raw = 0,                  // the tree itself: what the mount's root shows
    hidden = hidden_view_id,  // the folder .tensorfs and the files in it
    flat = 2,
    npy = 3,
    f32 = 4,
};

/// Which node of a model: a view, and a position in what it numbers.
struct Inode {
    View view = View::raw;
    std::uint32_t position = 0;

    bool operator==(const Inode&) const = default;
};

/// What the kernel knows a node by, and users as its inode number. A model that takes another's place
/// numbers its nodes anew, so that nothing the kernel has of the old one is taken for the new.
///
/// From the lowest bit up: the position plus one in 33 bits, since FUSE has the root at 1; the
/// generation in 15; the view in 8. The root has one number, whichever model it shows.
struct NodeId {
    std::uint16_t generation = 0;
    Inode inode;

    static constexpr unsigned position_bits = 33;
    static constexpr unsigned generation_bits = 15;
    static constexpr std::uint16_t generations = 1U << generation_bits;

    [[nodiscard]] constexpr std::uint64_t number() const {
        if (inode == Inode{}) return 1;
        return std::uint64_t{static_cast<std::uint8_t>(inode.view)} << (position_bits + generation_bits) |
               std::uint64_t{generation} << position_bits | (inode.position + std::uint64_t{1});
    }
    static constexpr NodeId from_number(std::uint64_t number) {
        return {static_cast<std::uint16_t>(number >> position_bits & (generations - 1)),
                {static_cast<View>(number >> (position_bits + generation_bits) & 0xFF),
                 static_cast<std::uint32_t>((number & ((std::uint64_t{1} << position_bits) - 1)) - 1)}};
    }
    [[nodiscard]] constexpr bool is_root() const { return inode == Inode{}; }
    bool operator==(const NodeId&) const = default;
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

}  // namespace tensorfs
