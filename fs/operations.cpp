#include "fs/operations.hpp"

#include <linux/limits.h>

#include <cerrno>
#include <new>
#include <string>
#include <vector>

#include "fs/answer.hpp"
#include "fs/listing.hpp"
#include "fs/served.hpp"
#include "fs/xattr.hpp"

namespace tensorfs {
namespace {

constexpr unsigned largest_request = 1 << 20;

Served& served(fuse_req_t request) { return *static_cast<Served*>(fuse_req_userdata(request)); }

/// Runs a callback's work and turns failure into a reply. `work(served)` either replies and returns
/// 0, or does not and returns an errno value.
template <typename Work>
void answer(fuse_req_t request, Request kind, const Work& work) noexcept {
    Served& from = served(request);
    from.stats.count(kind);
    int error = EIO;
    try {
        error = work(from);
    } catch (const std::bad_alloc&) {
        error = ENOMEM;
    } catch (...) {
        // Serving does not throw; should it, the one request fails.
    }
    if (error == 0) return;
    if (error == EIO || error == ENOMEM) from.stats.count_error();
    fuse_reply_err(request, error);
}

void init(void* user_data, fuse_conn_info* connection) {
    const auto want = [&](unsigned capability) { connection->want |= connection->capable & capability; };
    want(FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_EXPORT_SUPPORT);
    if (static_cast<const Served*>(user_data)->is_baseline) return;  // for the rest, libfuse's defaults
    want(FUSE_CAP_NO_OPEN_SUPPORT | FUSE_CAP_NO_OPENDIR_SUPPORT | FUSE_CAP_READDIRPLUS);
#ifdef FUSE_CAP_DIRECT_IO_ALLOW_MMAP  // libfuse 3.17; before, only private mappings work with cache=direct
    want(FUSE_CAP_DIRECT_IO_ALLOW_MMAP);
#endif
    // The kernel then remembers that there are no ACLs instead of asking for each `ls -l`.
    want(FUSE_CAP_POSIX_ACL);
    // Everything is in memory, so attributes along with a listing are always worth it; and what
    // nothing changes need not be checked.
    connection->want &= ~unsigned{FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA};
    connection->max_write = largest_request;  // libfuse derives the largest READ from it
    connection->max_background = 64;
    connection->congestion_threshold = 48;
}

void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
    answer(request, Request::lookup, [&](const Served& from) {
        const Inode folder = Inode::from_number(parent);
        const std::string_view wanted = name;
        std::optional<Node> node;
        if (wanted == ".") {
            node = from.volume.node(folder);  // only an NFS server asks for these two
        } else if (wanted == "..") {
            node = from.volume.node(from.volume.parent(folder));
        } else {
            node = from.volume.lookup(folder, wanted);
        }
        fuse_entry_param entry{};
        entry.entry_timeout = for_ever;  // of the answer that there is no such entry
        if (node) entry = entry_param(*node, from.owner);
        fuse_reply_entry(request, &entry);
        return 0;
    });
}

void forget(fuse_req_t request, fuse_ino_t, std::uint64_t) { fuse_reply_none(request); }

void forget_multi(fuse_req_t request, std::size_t, fuse_forget_data*) { fuse_reply_none(request); }

void getattr(fuse_req_t request, fuse_ino_t number, fuse_file_info*) {
    answer(request, Request::getattr, [&](const Served& from) {
        const std::optional<Node> node = from.volume.node(Inode::from_number(number));
        if (!node) return ENOENT;
        const struct stat attributes = to_stat(*node, from.owner);
        fuse_reply_attr(request, &attributes, for_ever);
        return 0;
    });
}

void open(fuse_req_t request, fuse_ino_t, fuse_file_info* file) {
    const Served& from = served(request);
    if (from.cache != Cache::direct && !from.is_baseline) {
        fuse_reply_err(request, ENOSYS);
        return;
    }
    file->direct_io = from.cache == Cache::direct;
    file->keep_cache = from.cache != Cache::direct;
    fuse_reply_open(request, file);
}

void opendir(fuse_req_t request, fuse_ino_t, fuse_file_info* folder) {
    if (served(request).is_baseline) {
        fuse_reply_open(request, folder);
    } else {
        fuse_reply_err(request, ENOSYS);
    }
}

void release(fuse_req_t request, fuse_ino_t, fuse_file_info*) { fuse_reply_err(request, 0); }

void read(fuse_req_t request, fuse_ino_t number, std::size_t size, off_t offset, fuse_file_info*) {
    answer(request, Request::read, [&](Served& from) {
        const std::optional<Node> node = from.volume.node(Inode::from_number(number));
        if (!node) return ENOENT;
        if (node->is_folder) return EISDIR;
        Content storage;
        const Content& content = from.volume.content(*node, storage);
        std::vector<Content::Piece> pieces;
        content.gather(static_cast<std::uint64_t>(offset), size, from.volume.model().shards(), pieces);

        Answer answer(from, pieces);
        if (const int error = answer.prepare()) return error;
        answer.send(request);
        return 0;
    });
}

/// A folder's offsets: 0 is ".", 1 is "..", and 2 + i its entry i.
void list(fuse_req_t request, fuse_ino_t number, std::size_t size, off_t offset, bool plus) {
    answer(request, Request::readdir, [&](const Served& from) {
        const Inode inode = Inode::from_number(number);
        const std::optional<Node> folder = from.volume.node(inode);
        if (!folder) return ENOENT;
        if (!folder->is_folder) return ENOTDIR;

        Listing listing(request, from.owner, size, plus);
        const std::uint64_t end = std::uint64_t{folder->entries} + 2;
        bool fits = true;
        std::string storage;
        for (auto at = static_cast<std::uint64_t>(offset); fits && at < end; ++at) {
            const auto next = static_cast<std::uint32_t>(at + 1);
            if (at < 2) {
                fits = listing.add_bare(at == 0 ? "." : "..", at == 0 ? inode : from.volume.parent(inode), true, next);
                continue;
            }
            const Volume::Entry entry = from.volume.entry(inode, static_cast<std::uint32_t>(at - 2), storage);
            if (!plus || entry.is_made) {
                fits = listing.add_bare(entry.name, entry.inode, entry.is_folder, next);
            } else {
                fits = listing.add(entry.name, *from.volume.node(entry.inode), next);
            }
        }
        listing.reply();
        return 0;
    });
}

void readdir(fuse_req_t request, fuse_ino_t number, std::size_t size, off_t offset, fuse_file_info*) {
    list(request, number, size, offset, false);
}

void readdirplus(fuse_req_t request, fuse_ino_t number, std::size_t size, off_t offset, fuse_file_info*) {
    list(request, number, size, offset, true);
}

/// Answers getxattr and listxattr, which share their rules: size 0 asks for the size alone.
int reply_sized(fuse_req_t request, std::string_view value, std::size_t size, std::size_t limit) {
    if (value.size() > limit) return E2BIG;
    if (size == 0) {
        fuse_reply_xattr(request, value.size());
        return 0;
    }
    if (value.size() > size) return ERANGE;
    fuse_reply_buf(request, value.data(), value.size());
    return 0;
}

void getxattr(fuse_req_t request, fuse_ino_t number, const char* name, std::size_t size) {
    answer(request, Request::getxattr, [&](const Served& from) {
        const std::optional<Node> node = from.volume.node(Inode::from_number(number));
        if (!node) return ENOENT;
        if (node->inode == Inode{} && name == stats_attribute) {
            return reply_sized(request, from.stats.json_to_fit(size), size, XATTR_SIZE_MAX);
        }
        const std::optional<std::string> value = xattr(from.volume, *node, name);
        return value ? reply_sized(request, *value, size, XATTR_SIZE_MAX) : ENODATA;
    });
}

void listxattr(fuse_req_t request, fuse_ino_t number, std::size_t size) {
    answer(request, Request::listxattr, [&](const Served& from) {
        const std::optional<Node> node = from.volume.node(Inode::from_number(number));
        if (!node) return ENOENT;
        return reply_sized(request, xattr_names(from.volume, *node), size, XATTR_LIST_MAX);
    });
}

void statfs(fuse_req_t request, fuse_ino_t) {
    answer(request, Request::statfs, [&](const Served& from) {
        const struct statvfs numbers = to_statvfs(from.volume);
        fuse_reply_statfs(request, &numbers);
        return 0;
    });
}

/// For whatever would change something. The kernel mounts read-only and does not ask, unless it is
/// remounted.
template <typename... Arguments>
void refuse(fuse_req_t request, Arguments...) {
    fuse_reply_err(request, EROFS);
}

fuse_lowlevel_ops make_operations() {
    fuse_lowlevel_ops ops{};
    ops.init = init;
    ops.lookup = lookup;
    ops.forget = forget;
    ops.forget_multi = forget_multi;
    ops.getattr = getattr;
    ops.open = open;
    ops.release = release;
    ops.opendir = opendir;
    ops.releasedir = release;
    ops.read = read;
    ops.readdir = readdir;
    ops.readdirplus = readdirplus;
    ops.getxattr = getxattr;
    ops.listxattr = listxattr;
    ops.statfs = statfs;

    ops.setattr = refuse;
    ops.mknod = refuse;
    ops.mkdir = refuse;
    ops.unlink = refuse;
    ops.rmdir = refuse;
    ops.symlink = refuse;
    ops.rename = refuse;
    ops.link = refuse;
    ops.create = refuse;
    ops.setxattr = refuse;
    ops.removexattr = refuse;
    return ops;
}

}  // namespace

const fuse_lowlevel_ops& operations() {
    static const fuse_lowlevel_ops ops = make_operations();
    return ops;
}

}  // namespace tensorfs
