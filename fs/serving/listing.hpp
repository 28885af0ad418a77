#pragma once

#include <sys/types.h>

#include <cstddef>

#include "fs/serving/fuse.hpp"
#include "fs/serving/generation.hpp"
#include "fs/serving/served.hpp"
#include "fs/volume/stat.hpp"

namespace tensorfs {

/// In seconds: for ever. (The kernel cuts it to what it can count.)
inline constexpr double for_ever = 1e9;

/// What the kernel is told of a node that was found: its number and attributes, for ever.
fuse_entry_param entry_param(const Generation& model, const Node& node, const Owner& owner);

/// What the kernel asks for of a folder's entries.
struct ListingRequest {
    std::size_t size;  // of the reply, at most
    off_t offset;      // where to go on: 0, or what came with the entry before
    bool plus;         // READDIRPLUS: attributes along with the names
};

/// Answers READDIR and READDIRPLUS of a folder: an errno value, or 0 and a reply. Who has begun to list one
/// model's root goes on in that, though another is `shown` by now. Throws std::bad_alloc.
int reply_listing(fuse_req_t request, Served& from, Generation& shown, Inode folder, const ListingRequest& wanted);

}  // namespace tensorfs
