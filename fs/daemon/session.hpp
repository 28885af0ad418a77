#pragma once

#include <memory>
#include <string>

#include "core/base/descriptor.hpp"
#include "fs/daemon/kernel_mount.hpp"
#include "fs/daemon/notifier.hpp"
#include "fs/daemon/worker_pool.hpp"
#include "fs/options/options.hpp"
#include "fs/serving/served.hpp"

namespace tensorfs {

/// A mount that is served: its place in the kernel's tree (KernelMount), the threads that answer (WorkerPool), and what
/// the kernel is told (Notifier), from the beginning to an end that nothing can hold up:
///
/// | how it ends                                       | what stop() does                                           |
/// |---------------------------------------------------|------------------------------------------------------------|
/// | all requests are answered within 3 s              | notifications, then workers, then the mount end            |
/// | a notification is stuck for 3 s                   | workers end, then KernelMount::sever() frees the notifier  |
/// | a request is stuck in reading a shard for 3 s     | KernelMount::sever(), and the process exits with 0         |
/// | somebody unmounted it: the workers ended before   | the device is closed                                       |
///
/// It belongs to one thread, but for kernel_cache().
class Session {
public:
    /// Mounts; nobody answers yet. `served` must outlive the session. Throws Failure (mountpoint, no_fuse, mount_failed
    /// or internal).
    Session(const MountOptions& options, Served& served);
    /// Stops.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Starts to answer. Returns when the mount can be used. Throws Failure (mount_failed) if it has ended already, for
    /// whatever reason.
    void start();
    /// Ends the mount as above; the second time, does nothing. Files that are still open give errors from then on.
    void stop();

    /// Readable when the last worker has ended, since the filesystem was unmounted.
    [[nodiscard]] const Descriptor& finished() const { return workers_.finished(); }
    /// See WorkerPool.
    [[nodiscard]] bool is_answering() { return workers_.is_answering(); }
    /// Unmounts. False if the mount is in use, or the system refuses.
    bool unmount_unused() { return mount_.unmount_unused(); }
    /// What the kernel can be told to forget.
    [[nodiscard]] KernelCache& kernel_cache() noexcept { return notifier_; }

private:
    using Handle = std::unique_ptr<fuse_session, void (*)(fuse_session*)>;

    static Handle make(const MountOptions& options, Served& served);

    std::string mountpoint_;
    bool is_baseline_;
    KernelMount mount_;
    Handle session_;
    Notifier notifier_;
    WorkerPool workers_;
};

}  // namespace tensorfs
