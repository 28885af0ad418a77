#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/tree.hpp"

namespace tensorfs {

// The names of a tree whose files have an ending, such as ".npy", while its folders keep their names.
//
// A file's name is its name in the tree and the ending behind it. Where that would be longer than 255
// bytes, or is the name of a folder beside it, the name is cut if need be, and "%~" and the
// file's place in its folder stand before the ending. (In a tree's names two hexadecimal digits follow
// each '%', so that no other name is like it.)

/// A node's name. The result is a view of the tree's, or of `storage`.
std::string_view suffixed_name(const Tree& tree, Tree::Position node, std::string_view ending, std::string& storage);

/// The child of `folder` that has this name. REQUIRES: is_folder(folder).
std::optional<Tree::Position> suffixed_child(const Tree& tree, Tree::Position folder, std::string_view name,
                                             std::string_view ending);

}  // namespace tensorfs
