#include "fs/listing.hpp"

#include <array>
#include <climits>

namespace tensorfs {

fuse_entry_param entry_param(const Node& node, const Owner& owner) {
    fuse_entry_param entry{};
    entry.ino = node.inode.number();
    entry.attr = to_stat(node, owner);
    entry.attr_timeout = entry.entry_timeout = for_ever;
    return entry;
}

Listing::Listing(fuse_req_t request, const Owner& owner, std::size_t size, bool plus)
    : request_(request),
      owner_(owner),
      size_(size),
      plus_(plus),
      buffer_(std::make_unique_for_overwrite<char[]>(size)) {}

bool Listing::add(std::string_view name, const Node& node, std::uint32_t next) {
    return append(name, entry_param(node, owner_), next);
}

bool Listing::add_bare(std::string_view name, Inode inode, bool is_folder, std::uint32_t next) {
    fuse_entry_param entry{};  // node id 0: only the name counts
    entry.attr.st_ino = inode.number();
    entry.attr.st_mode = is_folder ? S_IFDIR : S_IFREG;
    return append(name, entry, next);
}

void Listing::reply() { fuse_reply_buf(request_, buffer_.get(), used_); }

bool Listing::append(std::string_view name, const fuse_entry_param& entry, std::uint32_t next) {
    std::array<char, NAME_MAX + 1> text{};
    name.copy(text.data(), text.size() - 1);
    char* const at = buffer_.get() + used_;
    const std::size_t left = size_ - used_;
    const std::size_t needed = plus_ ? fuse_add_direntry_plus(request_, at, left, text.data(), &entry, next)
                                     : fuse_add_direntry(request_, at, left, text.data(), &entry.attr, next);
    if (needed > left) return false;
    used_ += needed;
    return true;
}

}  // namespace tensorfs
