#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/tensors/content.hpp"
#include "fs/serving/fuse.hpp"
#include "fs/serving/generation.hpp"

namespace tensorfs {

/// What is sent for a READ: the pieces of a content as memory. Small ones are copied, and so is what must
/// be calculated.
class ReadReply {
public:
    /// REQUIRES: `pieces` outlives it.
    ReadReply(Generation& generation, const std::vector<Content::Piece>& pieces);

    /// Makes sure that all of it is what it was when mounted, and in memory. 0, or an errno value.
    int prepare();
    /// Replies. How many bytes were sent; nothing if the kernel did not take them. REQUIRES: prepare()
    /// answered 0.
    std::optional<std::uint64_t> send(fuse_req_t request);
    /// Lets go of what was sent. To be called behind it.
    void release();

private:
    [[nodiscard]] bool is_copied(const Content::Piece& piece) const;
    void add(const std::byte* data, std::uint64_t nbytes);

    Generation& generation_;
    const std::vector<Content::Piece>& pieces_;
    bool copies_all_;  // there are too many to be sent one by one
    std::vector<iovec> slices_;
    std::unique_ptr<std::byte[]> copies_;
};

}  // namespace tensorfs
