#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "fs/fuse.hpp"
#include "fs/generation.hpp"
#include "fs/stat.hpp"

namespace tensorfs {

/// In seconds: for ever. (The kernel cuts it to what it can count.)
inline constexpr double for_ever = 1e9;

/// What the kernel is told of a node that was found: its number and attributes, for ever.
fuse_entry_param entry_param(const Generation& model, const Node& node, const Owner& owner);

/// One reply to READDIR or READDIRPLUS, filled entry by entry.
class Listing {
public:
    /// `size` bytes at most, with what the kernel asked for: `plus` for attributes along with names.
    Listing(fuse_req_t request, Generation& model, const Owner& owner, std::size_t size, bool plus);

    /// Adds an entry with its attributes if the kernel wants any; `next` is where the listing goes
    /// on behind it. False if it does not fit.
    bool add(std::string_view name, const Node& node, std::uint64_t next);
    /// Adds an entry that is not looked up along with it.
    bool add_bare(std::string_view name, Inode inode, bool is_folder, std::uint64_t next);
    /// How many bytes were sent; 0 also if the kernel did not take them.
    std::size_t reply();

private:
    bool append(std::string_view name, const fuse_entry_param& entry, std::uint64_t next);

    fuse_req_t request_;
    Generation& model_;
    const Owner& owner_;
    std::size_t size_;
    bool plus_;
    std::unique_ptr<char[]> buffer_;
    std::size_t used_ = 0;
    std::uint64_t looked_up_ = 0;  // entries that the kernel counts as found
};

}  // namespace tensorfs
