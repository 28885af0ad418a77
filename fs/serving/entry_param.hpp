#pragma once

#include "fs/serving/fuse.hpp"
#include "fs/serving/generation.hpp"
#include "fs/volume/stat.hpp"

namespace tensorfs {

/// In seconds: for ever. (The kernel cuts it to what it can count.)
inline constexpr double for_ever = 1e9;

/// What the kernel is told of a node that was found: its number and attributes, both valid for ever.
fuse_entry_param entry_param(const Generation& generation, const Node& node, const Owner& owner);

}  // namespace tensorfs
