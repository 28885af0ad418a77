#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/descriptor.hpp"
#include "fs/operations.hpp"
#include "fs/options.hpp"
#include "fs/served.hpp"

namespace tensorfs {

/// A mount and the threads that answer for it.
///
/// Threads are started as they are needed: whoever takes a request while no other is waiting for
/// one starts another, up to a limit, so that a shard on a slow disk does not keep others waiting.
///
/// The constructor blocks SIGINT, SIGTERM and SIGHUP for the whole process: wait() takes them.
class Session {
public:
    /// Mounts. `served` must outlive the session. Throws Failure (mountpoint, no_fuse or
    /// mount_failed); libfuse may have logged details before.
    Session(const MountOptions& options, Served& served);
    /// Unmounts, if wait() has not.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Starts to answer, and returns when the kernel has its first answer and the mount is open to all.
    /// Throws Failure.
    void start();
    /// Answers until the filesystem is unmounted or one of the signals comes, then unmounts and
    /// lets requests under way finish. With files still open the mount goes all the same; reading
    /// these fails from then on.
    void wait();

private:
    enum class Start : std::uint8_t { not_yet, now, never };

    void work();
    bool add_worker();
    void let_work(Start start);
    void stop();

    std::string mountpoint_;
    std::string real_mountpoint_;  // as the kernel lists it
    unsigned most_workers_;
    bool is_baseline_;
    Descriptor signals_;    // readable when one of the signals is there
    Descriptor answering_;  // an eventfd: the kernel's first request, FUSE_INIT, has been answered
    Descriptor finished_;   // an eventfd: the last worker has gone
    std::unique_ptr<fuse_session, void (*)(fuse_session*)> session_;
    bool mounted_ = false;

    std::atomic<Start> start_{Start::not_yet};  // what the first worker waits for

    std::mutex mutex_;
    std::vector<std::thread> workers_;  // grows only; under mutex_
    std::atomic<bool> is_answering_{false};
    std::atomic<unsigned> waiting_{0};  // workers that wait for a request
    std::atomic<unsigned> working_{0};  // workers that have not ended
};

}  // namespace tensorfs
