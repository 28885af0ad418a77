#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "fs/fuse.hpp"
#include "fs/node.hpp"
#include "fs/stat.hpp"

namespace tensorfs {

/// In seconds: for ever. (The kernel cuts it to what it can count.)
inline constexpr double for_ever = 1e9;

/// What the kernel is told of a node that was found: its number and attributes, for ever.
fuse_entry_param entry_param(const Node& node, const Owner& owner);

/// One reply to READDIR or READDIRPLUS, filled entry by entry.
class Listing {
public:
    /// `size` bytes at most, with what the kernel asked for: `plus` for attributes along with names.
    Listing(fuse_req_t request, const Owner& owner, std::size_t size, bool plus);

    /// Adds an entry with its attributes if the kernel wants any; `next` is where the listing goes
    /// on behind it. False if it does not fit.
    bool add(std::string_view name, const Node& node, std::uint32_t next);
    /// Adds an entry that is not looked up along with it.
    bool add_bare(std::string_view name, Inode inode, bool is_folder, std::uint32_t next);
    void reply();

private:
    bool append(std::string_view name, const fuse_entry_param& entry, std::uint32_t next);

    fuse_req_t request_;
    const Owner& owner_;
    std::size_t size_;
    bool plus_;
    std::unique_ptr<char[]> buffer_;
    std::size_t used_ = 0;
};

}  // namespace tensorfs
