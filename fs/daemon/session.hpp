#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/descriptor.hpp"
#include "fs/daemon/event.hpp"
#include "fs/options/options.hpp"
#include "fs/serving/operations.hpp"
#include "fs/serving/served.hpp"

namespace tensorfs {

/// A mount and the threads that answer for it.
///
/// Threads are started as they are needed: whoever takes a request while no other is waiting for
/// one starts another, up to a limit, so that a shard on a slow disk does not keep others waiting.
///
/// It belongs to one thread, but for what is said to be for any.
class Session {
public:
    /// Mounts. A mount point /dev/fd/N is a FUSE device that was opened and mounted by who started
    /// this, and is not unmounted in the end. `served` must outlive the session. Throws Failure
    /// (mountpoint, no_fuse or mount_failed); libfuse may have logged details before.
    Session(const MountOptions& options, Served& served);
    /// Unmounts, if stop() has not.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Starts to answer, and returns when the kernel has its first answer and the mount is open to all.
    /// Throws Failure.
    void start();
    /// Unmounts and lets requests under way finish. With files still open the mount goes all the same;
    /// reading these fails from then on. Requests that hang in reading a shard end the process, with 0. The
    /// kernel is told nothing more by forget_root() and its like, which then return at once.
    void stop();

    /// Readable when the last thread has ended, since the filesystem was unmounted.
    [[nodiscard]] const Descriptor& finished() const { return finished_.pending(); }
    /// Whether requests are being answered: not if, since this was asked last, all threads have been busy
    /// with one request each. Reading a shard does not count as busy, since that is the disk's affair.
    [[nodiscard]] bool is_answering();
    /// Unmounts, unless something of the mount is in use. False if so, or if the system refuses.
    bool unmount_unused();
    /// Makes the kernel forget the root's listing and attributes. For any thread that answers no request.
    void forget_root();
    /// Whether the kernel still knows of a node, which makes it ask anew for its attributes. The same.
    [[nodiscard]] bool knows(std::uint64_t node_id);
    /// Makes the kernel forget a name in a folder: what it leads to goes when nobody uses it any more. When it
    /// returns, no lookup or listing of before is under way there. The same.
    void forget_name(std::uint64_t folder, std::string_view name) noexcept;

private:
    enum class Start : std::uint8_t { not_yet, now, never };

    void work();
    bool add_worker();
    void let_work(Start start);
    [[nodiscard]] bool is_on_top() const;
    [[nodiscard]] bool is_connected() const;  // not if it was unmounted, everywhere
    void unmount();
    void give_up();
    void sever();
    template <typename Say>
    int tell(const Say& say);

    std::string mountpoint_;
    bool is_mounted_before_;       // the mount point is a device, /dev/fd/N
    std::string real_mountpoint_;  // as the kernel lists it
    std::string device_;           // the mount's, as the kernel lists it
    unsigned most_workers_;
    bool is_baseline_;
    Event answering_;  // the kernel's first request, FUSE_INIT, has been answered
    Event finished_;   // the last worker has gone
    std::unique_ptr<fuse_session, void (*)(fuse_session*)> session_;
    bool mounted_ = false;

    std::atomic<Start> start_{Start::not_yet};  // what the first worker waits for

    std::mutex mutex_;
    std::vector<std::thread> workers_;  // grows only; under mutex_
    std::atomic<bool> has_answered_{false};
    std::atomic<bool> is_ending_{false};
    std::atomic<unsigned> telling_{0};        // threads that tell the kernel to forget something
    std::atomic<unsigned> waiting_{0};        // workers that wait for a request
    std::atomic<unsigned> working_{0};        // workers that have not ended
    std::atomic<unsigned> reading_{0};        // workers that answer a READ
    std::atomic<std::uint64_t> answered_{0};  // requests
    std::uint64_t answered_before_ = 0;       // when is_answering() was asked last
};

}  // namespace tensorfs
