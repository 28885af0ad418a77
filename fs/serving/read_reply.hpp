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

/// The reply to a READ: the pieces of a content, sent from where they are in memory. Small ones are copied first, and
/// so are those that must be calculated.
class ReadReply {
public:
    /// REQUIRES: `pieces` outlives it.
    ReadReply(Generation& generation, const std::vector<Content::Piece>& pieces);

    /// Makes sure that all of it is unchanged since it was mounted, and in memory. 0, or an errno value.
    int prepare();
    /// Replies. How many bytes were sent; nothing if the kernel did not take them. REQUIRES: prepare() returned 0.
    std::optional<std::uint64_t> send(fuse_req_t request);
    /// Releases the memory of what was sent. Call it after send().
    void release();

private:
    [[nodiscard]] bool is_copied(const Content::Piece& piece) const;
    void add(const std::byte* data, std::uint64_t nbytes);

    Generation& generation_;
    const std::vector<Content::Piece>& pieces_;
    bool copies_all_;  // there are too many pieces to send them one by one
    std::vector<iovec> slices_;
    std::unique_ptr<std::byte[]> copies_;
};

}  // namespace tensorfs
