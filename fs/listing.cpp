#include "fs/listing.hpp"

#include <array>
#include <climits>

namespace tensorfs {

fuse_entry_param entry_param(const Generation& model, const Node& node, const Owner& owner) {
    fuse_entry_param entry{};
    entry.ino = model.node_id(node.inode);
    entry.generation = model.serial();  // for NFS, whose handles outlive what the kernel knows
    entry.attr = to_stat(node, owner, model.number());
    entry.attr_timeout = entry.entry_timeout = for_ever;
    return entry;
}

Listing::Listing(fuse_req_t request, Generation& model, const Owner& owner, std::size_t size, bool plus)
    : request_(request),
      model_(model),
      owner_(owner),
      size_(size),
      plus_(plus),
      buffer_(std::make_unique_for_overwrite<char[]>(size)) {}

bool Listing::add(std::string_view name, const Node& node, std::uint64_t next) {
    if (!append(name, entry_param(model_, node, owner_), next)) return false;
    looked_up_ += plus_ ? 1 : 0;
    return true;
}

bool Listing::add_bare(std::string_view name, Inode inode, bool is_folder, std::uint64_t next) {
    fuse_entry_param entry{};  // node id 0: only the name counts
    entry.attr.st_ino = model_.node_id(inode);
    entry.attr.st_mode = is_folder ? S_IFDIR : S_IFREG;
    return append(name, entry, next);
}

std::size_t Listing::reply() {
    model_.learned(looked_up_);  // before the kernel can have forgotten them
    if (fuse_reply_buf(request_, buffer_.get(), used_) == 0) return used_;
    model_.forgotten(looked_up_);
    return 0;
}

bool Listing::append(std::string_view name, const fuse_entry_param& entry, std::uint64_t next) {
    std::array<char, NAME_MAX + 1> text{};
    name.copy(text.data(), text.size() - 1);
    char* const at = buffer_.get() + used_;
    const std::size_t left = size_ - used_;
    const std::size_t needed =
        plus_ ? fuse_add_direntry_plus(request_, at, left, text.data(), &entry, static_cast<off_t>(next))
              : fuse_add_direntry(request_, at, left, text.data(), &entry.attr, static_cast<off_t>(next));
    if (needed > left) return false;
    used_ += needed;
    return true;
}

}  // namespace tensorfs
