#pragma once

#include <time.h>

#include <cstdint>

#include "core/tree.hpp"

namespace tensorfs {

/// A number in the inode: which way of looking at the model a node belongs to. The order is part of
/// the inode numbers, so a new one goes to the end; what it means stands in volume.cpp.
enum class View : std::uint8_t {
    raw,     // the tree itself: what the mount's root shows
    hidden,  // the folder .tensorfs and the files in it
    flat,    // .tensorfs/flat: the raw tensors in one folder, by full name
    npy,     // .tensorfs/npy: the tree again, each file a NumPy array
    f32,     // .tensorfs/f32: the same, with narrow floats widened
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

}  // namespace tensorfs
