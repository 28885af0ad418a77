#include "fs/serving/listing.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tensorfs {
namespace {

constexpr std::size_t shortest_listing = 4096;  // bytes; any name fits

/// Where a listing goes on: at 0 with ".", at 1 with "..", and at 2 + i with the folder's entry i. In the
/// root, the generation is part of it, as of no node id there: who has begun to list one model goes on in it.
struct Place {
    static constexpr unsigned bits = 33;

    std::uint16_t generation = 0;
    std::uint64_t at = 0;

    [[nodiscard]] std::uint64_t offset() const { return std::uint64_t{generation} << bits | at; }
    static Place from_offset(off_t offset) {
        const auto number = static_cast<std::uint64_t>(offset);
        return {static_cast<std::uint16_t>(number >> bits), number & ((std::uint64_t{1} << bits) - 1)};
    }
};

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

}  // namespace

fuse_entry_param entry_param(const Generation& model, const Node& node, const Owner& owner) {
    fuse_entry_param entry{};
    entry.ino = model.node_id(node.inode);
    // For NFS, whose handles outlive what the kernel knows. The root has one for all models.
    entry.generation = node.inode == Inode{} ? 0 : model.serial();
    entry.attr = to_stat(node, owner, model.number());
    entry.attr_timeout = entry.entry_timeout = for_ever;
    return entry;
}

int reply_listing(fuse_req_t request, Served& from, Generation& shown, Inode folder, const ListingRequest& wanted) {
    const Place start = Place::from_offset(wanted.offset);
    const bool is_root = folder == Inode{};
    std::shared_ptr<Generation> begun;
    if (is_root && start.at != 0) begun = from.generations.numbered(start.generation);
    Generation& model = begun ? *begun : shown;
    const std::optional<Node> node = model.volume.node(folder);
    if (!node) return ENOENT;
    if (!node->is_folder) return ENOTDIR;
    // The kernel would take what is found in the root for what is there now.
    const bool is_old = is_root && !from.generations.is_current(model);

    // To forget a name, the kernel waits for each listing that is under way.
    const std::size_t size =
        is_root && from.is_forgetting_root.load() ? std::min(wanted.size, shortest_listing) : wanted.size;
    Listing listing(request, model, from.owner, size, wanted.plus);
    const std::uint64_t end = std::uint64_t{node->entries} + 2;
    bool fits = true;
    std::string storage;
    for (std::uint64_t at = start.at; fits && at < end; ++at) {
        const std::uint64_t next = Place{is_root ? model.number() : std::uint16_t{0}, at + 1}.offset();
        if (at < 2) {
            fits = listing.add_bare(at == 0 ? "." : "..", at == 0 ? folder : model.volume.parent(folder), true, next);
            continue;
        }
        const Volume::Entry entry = model.volume.entry(folder, static_cast<std::uint32_t>(at - 2), storage);
        if (!wanted.plus || entry.is_made || is_old) {
            fits = listing.add_bare(entry.name, entry.inode, entry.is_folder, next);
        } else {
            fits = listing.add(entry.name, *model.volume.node(entry.inode), next);
        }
    }
    from.stats.count_bytes(Request::readdir, listing.reply());
    return 0;
}

}  // namespace tensorfs
