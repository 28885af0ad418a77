#include "fs/serving/listing_reply.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <string>

#include "fs/serving/entry_param.hpp"

namespace tensorfs {
namespace {

constexpr std::size_t shortest_reply = 4096;  // bytes; any name fits

/// Where a listing goes on, as the kernel keeps it in a directory offset. Position 0 is ".", 1 is "..", and 2 + i is
/// the folder's entry i. In the root, whose node id has no generation in it, the cookie has.
struct Cookie {
    static constexpr unsigned position_bits = 33;

    std::uint16_t tag = 0;
    std::uint64_t position = 0;

    [[nodiscard]] std::uint64_t offset() const { return std::uint64_t{tag} << position_bits | position; }
    static Cookie from_offset(off_t offset) {
        const auto bits = static_cast<std::uint64_t>(offset);
        return {static_cast<std::uint16_t>(bits >> position_bits), bits & ((std::uint64_t{1} << position_bits) - 1)};
    }
};

}  // namespace

ListingReply::ListingReply(const Served& served, Generation& current, const ListingRequest& wanted)
    : served_(served), generation_(&current), wanted_(wanted) {}

int ListingReply::prepare(Inode folder) {
    const Cookie start = Cookie::from_offset(wanted_.offset);
    const bool is_root = folder == Inode{};
    if (is_root && start.position != 0) begun_ = served_.generations.tagged(start.tag);
    if (begun_) generation_ = begun_.get();
    const Volume& volume = generation_->volume;
    const std::optional<Node> node = volume.node(folder);
    if (!node) return ENOENT;
    if (!node->is_folder) return ENOTDIR;
    // What is looked up in the root counts as found there now, so entries of an old generation must not be.
    const bool is_old = is_root && !served_.generations.is_current(*generation_);

    // To forget a name of the root, the kernel waits for each listing under way there: short ones, then.
    size_ = is_root && served_.is_forgetting_root.load() ? std::min(wanted_.size, shortest_reply) : wanted_.size;
    buffer_ = std::make_unique_for_overwrite<char[]>(size_);
    const std::uint64_t end = std::uint64_t{node->entries} + 2;
    bool fits = true;
    std::string storage;
    for (std::uint64_t position = start.position; fits && position < end; ++position) {
        const std::uint64_t next = Cookie{is_root ? generation_->tag() : std::uint16_t{0}, position + 1}.offset();
        if (position < 2) {
            const bool is_self = position == 0;
            fits = add_bare(is_self ? "." : "..", is_self ? folder : volume.parent(folder), true, next);
            continue;
        }
        const Volume::Entry entry = volume.entry(folder, static_cast<std::uint32_t>(position - 2), storage);
        if (!wanted_.plus || entry.is_made || is_old) {
            fits = add_bare(entry.name, entry.inode, entry.is_folder, next);
        } else {
            fits = add(entry.name, *volume.node(entry.inode), next);
        }
    }
    return 0;
}

std::size_t ListingReply::send(fuse_req_t request) {
    generation_->add_lookups(lookups_);  // before FORGET can come
    if (fuse_reply_buf(request, buffer_.get(), used_) == 0) return used_;
    generation_->drop_lookups(lookups_);
    return 0;
}

/// Adds an entry, with its attributes if the kernel wants any; the listing goes on at `next` after it. False if it
/// does not fit.
bool ListingReply::add(std::string_view name, const Node& node, std::uint64_t next) {
    if (!append(name, entry_param(*generation_, node, served_.owner), next)) return false;
    lookups_ += wanted_.plus ? 1 : 0;
    return true;
}

/// Adds an entry that is not looked up along with it.
bool ListingReply::add_bare(std::string_view name, Inode inode, bool is_folder, std::uint64_t next) {
    fuse_entry_param entry{};  // node id 0: only the name counts
    entry.attr.st_ino = generation_->node_id(inode);
    entry.attr.st_mode = is_folder ? S_IFDIR : S_IFREG;
    return append(name, entry, next);
}

bool ListingReply::append(std::string_view name, const fuse_entry_param& entry, std::uint64_t next) {
    std::array<char, NAME_MAX + 1> text{};
    name.copy(text.data(), text.size() - 1);
    char* const to = buffer_.get() + used_;
    const std::size_t left = size_ - used_;
    const auto offset = static_cast<off_t>(next);
    // Neither of the two looks at the request, which is their first argument.
    const std::size_t needed = wanted_.plus ? fuse_add_direntry_plus(nullptr, to, left, text.data(), &entry, offset)
                                            : fuse_add_direntry(nullptr, to, left, text.data(), &entry.attr, offset);
    if (needed > left) return false;
    used_ += needed;
    return true;
}

}  // namespace tensorfs
