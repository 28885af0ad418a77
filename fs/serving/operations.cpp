#include "fs/serving/operations.hpp"

#include <linux/limits.h>

#include <cerrno>
#include <chrono>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "fs/serving/entry_param.hpp"
#include "fs/serving/listing_reply.hpp"
#include "fs/serving/read_reply.hpp"
#include "fs/serving/served.hpp"
#include "fs/serving/stats_text.hpp"
#include "fs/volume/xattr.hpp"

namespace tensorfs {
namespace {

constexpr unsigned largest_request = 1 << 20;

Served& served_by(fuse_req_t request) { return *static_cast<Served*>(fuse_req_userdata(request)); }

/// Runs the work of a callback with the generation that `node_id` belongs to, and turns failure into a reply.
/// `work(served, generation, inode)` either replies and returns 0, or returns an errno value and does not reply.
template <typename Work>
void with_generation(fuse_req_t request, Request kind, fuse_ino_t node_id, const Work& work) noexcept {
    Served& served = served_by(request);
    served.stats.count(kind);
    int error = EIO;
    try {
        const NodeId node = NodeId::from_number(node_id);
        const std::shared_ptr<Generation> generation = served.generations.of(node);
        error = generation ? work(served, *generation, node.inode) : ESTALE;
    } catch (const std::bad_alloc&) {
        error = ENOMEM;
    } catch (...) {
        // Serving does not throw; should it, this one request fails.
    }
    if (error == 0) return;
    if (error == EIO || error == ENOMEM) served.stats.count_error();
    fuse_reply_err(request, error);
}

void init(void* user_data, fuse_conn_info* connection) {
    const auto want = [&](unsigned capability) { connection->want |= connection->capable & capability; };
    want(FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_EXPORT_SUPPORT);
    const Served& served = *static_cast<const Served*>(user_data);
    if (served.max_read != 0) connection->max_read = served.max_read;  // libfuse ends the session if they differ
    if (served.is_baseline) return;                                    // for the rest, libfuse's defaults
    want(FUSE_CAP_NO_OPEN_SUPPORT | FUSE_CAP_NO_OPENDIR_SUPPORT | FUSE_CAP_READDIRPLUS);
#ifdef FUSE_CAP_DIRECT_IO_ALLOW_MMAP  // libfuse 3.17; before, only private mappings work with cache=direct
    want(FUSE_CAP_DIRECT_IO_ALLOW_MMAP);
#endif
    // With it, the kernel remembers that there are no ACLs; without it, it asks at every `ls -l`.
    want(FUSE_CAP_POSIX_ACL);
    // All nodes are in memory, so listings always come with attributes; and files never change, so the kernel need not
    // check them.
    connection->want &= ~unsigned{FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA};
    connection->max_write = largest_request;  // from which libfuse derives the largest READ
    connection->max_background = 64;
    connection->congestion_threshold = 48;
}

/// Replies with a node. The kernel then knows it until it sends FORGET.
void reply_entry(fuse_req_t request, const Served& served, Generation& generation, const Node& node) {
    const fuse_entry_param entry = entry_param(generation, node, served.owner);
    const std::uint64_t lookups = node.inode == Inode{} ? 0 : 1;  // the root belongs to no generation
    generation.add_lookups(lookups);                              // before FORGET can come
    if (fuse_reply_entry(request, &entry) != 0) generation.drop_lookups(lookups);
}

void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
    with_generation(request, Request::lookup, parent, [&](Served& served, Generation& generation, Inode folder) {
        const std::string_view wanted = name;
        std::optional<Node> node;
        if (wanted == ".") {
            node = generation.volume.node(folder);  // only an NFS server asks for these two
        } else if (wanted == "..") {
            node = generation.volume.node(generation.volume.parent(folder));
        } else {
            node = generation.volume.lookup(folder, wanted);
        }
        if (node) {
            reply_entry(request, served, generation, *node);
        } else {
            if (folder == Inode{}) served.negative_names.add(wanted);  // before the kernel can cache it
            fuse_entry_param none{};
            none.entry_timeout = for_ever;  // of the answer that there is no such entry
            fuse_reply_entry(request, &none);
        }
        return 0;
    });
}

void forget(fuse_req_t request, fuse_ino_t node_id, std::uint64_t lookups) {
    served_by(request).generations.forget(NodeId::from_number(node_id), lookups);
    fuse_reply_none(request);
}

void forget_multi(fuse_req_t request, std::size_t count, fuse_forget_data* all) {
    Generations& generations = served_by(request).generations;
    for (const fuse_forget_data& one : std::span(all, count)) {
        generations.forget(NodeId::from_number(one.ino), one.nlookup);
    }
    fuse_reply_none(request);
}

void getattr(fuse_req_t request, fuse_ino_t node_id, fuse_file_info*) {
    with_generation(request, Request::getattr, node_id,
                    [&](const Served& served, const Generation& generation, Inode inode) {
                        const std::optional<Node> node = generation.volume.node(inode);
                        if (!node) return ENOENT;
                        const struct stat attributes = to_stat(*node, served.owner, generation.tag());
                        fuse_reply_attr(request, &attributes, for_ever);
                        return 0;
                    });
}

/// Counts what is open, until it is released.
void reply_open(fuse_req_t request, Served& served, const fuse_file_info& file) {
    served.open_files.fetch_add(1);
    if (fuse_reply_open(request, &file) != 0) served.open_files.fetch_sub(1);
}

void open(fuse_req_t request, fuse_ino_t node_id, fuse_file_info* file) {
    with_generation(request, Request::open, node_id, [&](Served& served, const Generation&, Inode) {
        if (served.cache != Cache::direct && !served.is_baseline && !served.counts_opens) return ENOSYS;
        file->direct_io = served.cache == Cache::direct;
        file->keep_cache = served.cache != Cache::direct;
        reply_open(request, served, *file);
        return 0;
    });
}

void opendir(fuse_req_t request, fuse_ino_t node_id, fuse_file_info* folder) {
    with_generation(request, Request::opendir, node_id, [&](Served& served, const Generation&, Inode) {
        if (!served.is_baseline && !served.counts_opens) return ENOSYS;
        folder->keep_cache = folder->cache_readdir = !served.is_baseline;
        reply_open(request, served, *folder);
        return 0;
    });
}

void release(fuse_req_t request, fuse_ino_t, fuse_file_info*) {
    served_by(request).open_files.fetch_sub(1);
    fuse_reply_err(request, 0);
}

void read(fuse_req_t request, fuse_ino_t node_id, std::size_t size, off_t offset, fuse_file_info*) {
    const auto start = std::chrono::steady_clock::now();
    with_generation(request, Request::read, node_id, [&](Served& served, Generation& generation, Inode inode) {
        const std::optional<Node> node = generation.volume.node(inode);
        if (!node) return ENOENT;
        if (node->is_folder) return EISDIR;
        Content storage;
        const Content& content = generation.volume.content(*node, storage);
        const std::vector<Shard>& shards = generation.volume.model().shards();
        std::vector<Content::Piece> pieces;
        content.gather(static_cast<std::uint64_t>(offset), size, shards, pieces);

        ReadReply reply(generation, pieces);
        if (const int error = reply.prepare()) return error;
        const std::optional<std::uint64_t> bytes = reply.send(request);
        served.stats.read_latency().count(std::chrono::steady_clock::now() - start);
        reply.release();
        if (bytes) {
            served.stats.count_bytes(inode.view, *bytes);
            if (node->tensor != nullptr) {
                generation.busy.count(
                    static_cast<std::size_t>(node->tensor - generation.volume.model().tensors().data()), *bytes);
            }
        } else {
            served.stats.count_error();
        }
        return 0;
    });
}

void list(fuse_req_t request, fuse_ino_t node_id, std::size_t size, off_t offset, bool plus) {
    with_generation(request, Request::readdir, node_id, [&](Served& served, Generation& generation, Inode folder) {
        ListingReply reply(served, generation, {size, offset, plus});
        if (const int error = reply.prepare(folder)) return error;
        served.stats.count_bytes(Request::readdir, reply.send(request));
        return 0;
    });
}

void readdir(fuse_req_t request, fuse_ino_t node_id, std::size_t size, off_t offset, fuse_file_info*) {
    list(request, node_id, size, offset, false);
}

void readdirplus(fuse_req_t request, fuse_ino_t node_id, std::size_t size, off_t offset, fuse_file_info*) {
    list(request, node_id, size, offset, true);
}

/// Answers getxattr and listxattr: size 0 asks for the size alone.
int reply_sized(fuse_req_t request, Served& served, Request kind, std::string_view value, std::size_t size,
                std::size_t limit) {
    if (value.size() > limit) return E2BIG;
    if (size == 0) {
        fuse_reply_xattr(request, value.size());
        return 0;
    }
    if (value.size() > size) return ERANGE;
    fuse_reply_buf(request, value.data(), value.size());
    served.stats.count_bytes(kind, value.size());
    return 0;
}

void getxattr(fuse_req_t request, fuse_ino_t node_id, const char* name, std::size_t size) {
    with_generation(
        request, Request::getxattr, node_id, [&](Served& served, const Generation& generation, Inode inode) {
            const std::optional<Node> node = generation.volume.node(inode);
            if (!node) return ENOENT;
            const bool is_root = node->inode == Inode{};
            if (is_root) served.stats.count_look();
            if (is_root && name == stats_attribute) {
                return reply_sized(request, served, Request::getxattr,
                                   served.stats_text.to_fit(stats_text(served), size), size, XATTR_SIZE_MAX);
            }
            const std::optional<std::string> value = xattr(generation.volume, *node, name);
            return value ? reply_sized(request, served, Request::getxattr, *value, size, XATTR_SIZE_MAX) : ENODATA;
        });
}

void listxattr(fuse_req_t request, fuse_ino_t node_id, std::size_t size) {
    with_generation(request, Request::listxattr, node_id,
                    [&](Served& served, const Generation& generation, Inode inode) {
                        const std::optional<Node> node = generation.volume.node(inode);
                        if (!node) return ENOENT;
                        return reply_sized(request, served, Request::listxattr, xattr_names(generation.volume, *node),
                                           size, XATTR_LIST_MAX);
                    });
}

void statfs(fuse_req_t request, fuse_ino_t) {
    // Whichever node it is asked of, the answer is about the current generation.
    with_generation(request, Request::statfs, FUSE_ROOT_ID, [&](const Served&, const Generation& generation, Inode) {
        const struct statvfs numbers = to_statvfs(generation.volume);
        fuse_reply_statfs(request, &numbers);
        return 0;
    });
}

/// Answers whatever would change something. The mount is read-only, so the kernel asks only after a remount.
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
