#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "fs/serving/fuse.hpp"
#include "fs/serving/generation.hpp"
#include "fs/serving/served.hpp"

namespace tensorfs {

/// What the kernel asks for of a folder's entries.
struct ListingRequest {
    std::size_t size;  // of the reply, at most
    off_t offset;      // where to go on: 0, or what came with the entry before
    bool plus;         // READDIRPLUS: attributes along with the names
};

/// The reply to a READDIR or READDIRPLUS: the entries of a folder that fit it. A listing of the root that began in one
/// generation goes on in it, though another may be current by now.
class ListingReply {
public:
    /// `served` and `current` must outlive it. Throws std::bad_alloc.
    ListingReply(const Served& served, Generation& current, const ListingRequest& wanted);

    /// Fills it with entries of the folder. 0, or an errno value. Throws std::bad_alloc.
    int prepare(Inode folder);
    /// Replies. How many bytes were sent, 0 also if the kernel did not take them. REQUIRES: prepare() returned 0.
    std::size_t send(fuse_req_t request);

    /// What there is to send.
    [[nodiscard]] std::span<const char> bytes() const noexcept { return {buffer_.get(), used_}; }
    /// How many lookups the kernel will count.
    [[nodiscard]] std::uint64_t lookups() const noexcept { return lookups_; }

private:
    bool add(std::string_view name, const Node& node, std::uint64_t next);
    bool add_bare(std::string_view name, Inode inode, bool is_folder, std::uint64_t next);
    bool append(std::string_view name, const fuse_entry_param& entry, std::uint64_t next);

    const Served& served_;
    Generation* generation_;
    std::shared_ptr<Generation> begun_;  // keeps generation_ alive if it is not the current one
    ListingRequest wanted_;
    std::size_t size_ = 0;
    std::unique_ptr<char[]> buffer_;
    std::size_t used_ = 0;
    std::uint64_t lookups_ = 0;
};

}  // namespace tensorfs
