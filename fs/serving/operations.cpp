#include "fs/serving/operations.hpp"

#include <linux/limits.h>

#include <cerrno>
#include <chrono>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "fs/serving/read_reply.hpp"
#include "fs/serving/listing.hpp"
#include "fs/serving/served.hpp"
#include "fs/volume/xattr.hpp"

namespace tensorfs {
namespace {

constexpr unsigned largest_request = 1 << 20;

Served& served(fuse_req_t request) { return *static_cast<Served*>(fuse_req_userdata(request)); }

/// Runs a callback's work and turns failure into a reply. `work(served, model, inode)` either replies and
/// returns 0, or does not and returns an errno value; the model stays as long as it runs.
template <typename Work>
void answer(fuse_req_t request, Request kind, fuse_ino_t number, const Work& work) noexcept {
    Served& from = served(request);
    from.stats.count(kind);
    int error = EIO;
    try {
        const NodeId node = NodeId::from_number(number);
        const std::shared_ptr<Generation> model = from.generations.of(node);
        error = model ? work(from, *model, node.inode) : ESTALE;
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

/// Tells the kernel of a node, which it then knows until it says that it has forgotten it.
void reply_entry(fuse_req_t request, const Served& from, Generation& model, const Node& node) {
    const fuse_entry_param entry = entry_param(model, node, from.owner);
    const std::uint64_t times = node.inode == Inode{} ? 0 : 1;  // the root is known anyway, and no model's own
    model.learned(times);                                       // before it can be forgotten
    if (fuse_reply_entry(request, &entry) != 0) model.forgotten(times);
}

void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
    answer(request, Request::lookup, parent, [&](Served& from, Generation& model, Inode folder) {
        const std::string_view wanted = name;
        std::optional<Node> node;
        if (wanted == ".") {
            node = model.volume.node(folder);  // only an NFS server asks for these two
        } else if (wanted == "..") {
            node = model.volume.node(model.volume.parent(folder));
        } else {
            node = model.volume.lookup(folder, wanted);
        }
        if (node) {
            reply_entry(request, from, model, *node);
        } else {
            if (folder == Inode{}) from.denied.add(wanted);  // before the kernel can have it
            fuse_entry_param none{};
            none.entry_timeout = for_ever;  // of the answer that there is no such entry
            fuse_reply_entry(request, &none);
        }
        return 0;
    });
}

void forget(fuse_req_t request, fuse_ino_t number, std::uint64_t times) {
    served(request).generations.forget(NodeId::from_number(number), times);
    fuse_reply_none(request);
}

void forget_multi(fuse_req_t request, std::size_t count, fuse_forget_data* all) {
    Generations& generations = served(request).generations;
    for (const fuse_forget_data& one : std::span(all, count)) {
        generations.forget(NodeId::from_number(one.ino), one.nlookup);
    }
    fuse_reply_none(request);
}

void getattr(fuse_req_t request, fuse_ino_t number, fuse_file_info*) {
    answer(request, Request::getattr, number, [&](const Served& from, const Generation& model, Inode inode) {
        const std::optional<Node> node = model.volume.node(inode);
        if (!node) return ENOENT;
        const struct stat attributes = to_stat(*node, from.owner, model.number());
        fuse_reply_attr(request, &attributes, for_ever);
        return 0;
    });
}

/// Where it is of interest what is open, it is counted until it is released.
void reply_open(fuse_req_t request, Served& from, const fuse_file_info& file) {
    from.open_files.fetch_add(1);
    if (fuse_reply_open(request, &file) != 0) from.open_files.fetch_sub(1);
}

void open(fuse_req_t request, fuse_ino_t number, fuse_file_info* file) {
    answer(request, Request::open, number, [&](Served& from, const Generation&, Inode) {
        if (from.cache != Cache::direct && !from.is_baseline && !from.counts_opens) return ENOSYS;
        file->direct_io = from.cache == Cache::direct;
        file->keep_cache = from.cache != Cache::direct;
        reply_open(request, from, *file);
        return 0;
    });
}

void opendir(fuse_req_t request, fuse_ino_t number, fuse_file_info* folder) {
    answer(request, Request::opendir, number, [&](Served& from, const Generation&, Inode) {
        if (!from.is_baseline && !from.counts_opens) return ENOSYS;
        folder->keep_cache = folder->cache_readdir = !from.is_baseline;
        reply_open(request, from, *folder);
        return 0;
    });
}

void release(fuse_req_t request, fuse_ino_t, fuse_file_info*) {
    served(request).open_files.fetch_sub(1);
    fuse_reply_err(request, 0);
}

void read(fuse_req_t request, fuse_ino_t number, std::size_t size, off_t offset, fuse_file_info*) {
    const auto start = std::chrono::steady_clock::now();
    answer(request, Request::read, number, [&](Served& from, Generation& model, Inode inode) {
        const std::optional<Node> node = model.volume.node(inode);
        if (!node) return ENOENT;
        if (node->is_folder) return EISDIR;
        Content storage;
        const Content& content = model.volume.content(*node, storage);
        const std::vector<Shard>& shards = model.volume.model().shards();
        std::vector<Content::Piece> pieces;
        content.gather(static_cast<std::uint64_t>(offset), size, shards, pieces);

        Answer answer(model, pieces);
        if (const int error = answer.prepare()) return error;
        const std::optional<std::uint64_t> bytes = answer.send(request);
        from.stats.read_latency().count(std::chrono::steady_clock::now() - start);
        answer.let_go();
        if (bytes) {
            from.stats.count_bytes(inode.view, *bytes);
            if (node->tensor != nullptr) {
                model.busy.count(static_cast<std::size_t>(node->tensor - model.volume.model().tensors().data()),
                                 *bytes);
            }
        } else {
            from.stats.count_error();
        }
        return 0;
    });
}

void list(fuse_req_t request, fuse_ino_t number, std::size_t size, off_t offset, bool plus) {
    answer(request, Request::readdir, number, [&](Served& from, Generation& shown, Inode inode) {
        return reply_listing(request, from, shown, inode, {size, offset, plus});
    });
}

void readdir(fuse_req_t request, fuse_ino_t number, std::size_t size, off_t offset, fuse_file_info*) {
    list(request, number, size, offset, false);
}

void readdirplus(fuse_req_t request, fuse_ino_t number, std::size_t size, off_t offset, fuse_file_info*) {
    list(request, number, size, offset, true);
}

/// Answers getxattr and listxattr, which share their rules: size 0 asks for the size alone.
int reply_sized(fuse_req_t request, Served& from, Request kind, std::string_view value, std::size_t size,
                std::size_t limit) {
    if (value.size() > limit) return E2BIG;
    if (size == 0) {
        fuse_reply_xattr(request, value.size());
        return 0;
    }
    if (value.size() > size) return ERANGE;
    fuse_reply_buf(request, value.data(), value.size());
    from.stats.count_bytes(kind, value.size());
    return 0;
}

void getxattr(fuse_req_t request, fuse_ino_t number, const char* name, std::size_t size) {
    answer(request, Request::getxattr, number, [&](Served& from, const Generation& model, Inode inode) {
        const std::optional<Node> node = model.volume.node(inode);
        if (!node) return ENOENT;
        const bool is_root = node->inode == Inode{};
        if (is_root) from.stats.count_look();
        if (is_root && name == stats_attribute) {
            return reply_sized(request, from, Request::getxattr, from.stats_text.to_fit(from, size), size,
                               XATTR_SIZE_MAX);
        }
        const std::optional<std::string> value = xattr(model.volume, *node, name);
        return value ? reply_sized(request, from, Request::getxattr, *value, size, XATTR_SIZE_MAX) : ENODATA;
    });
}

void listxattr(fuse_req_t request, fuse_ino_t number, std::size_t size) {
    answer(request, Request::listxattr, number, [&](Served& from, const Generation& model, Inode inode) {
        const std::optional<Node> node = model.volume.node(inode);
        if (!node) return ENOENT;
        return reply_sized(request, from, Request::listxattr, xattr_names(model.volume, *node), size, XATTR_LIST_MAX);
    });
}

void statfs(fuse_req_t request, fuse_ino_t) {
    // Whatever it is asked of, it is the mount as it is now.
    answer(request, Request::statfs, FUSE_ROOT_ID, [&](const Served&, const Generation& model, Inode) {
        const struct statvfs numbers = to_statvfs(model.volume);
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
