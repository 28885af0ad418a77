#include "fs/serving/entry_param.hpp"

namespace tensorfs {

fuse_entry_param entry_param(const Generation& generation, const Node& node, const Owner& owner) {
    fuse_entry_param entry{};
    entry.ino = generation.node_id(node.inode);
    // For NFS, whose handles outlive what the kernel knows. The root's handle stays valid through all reloads.
    entry.generation = node.inode == Inode{} ? 0 : generation.serial();
    entry.attr = to_stat(node, owner, generation.tag());
    entry.attr_timeout = entry.entry_timeout = for_ever;
    return entry;
}

}  // namespace tensorfs
