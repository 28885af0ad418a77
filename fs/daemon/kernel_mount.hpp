#pragma once

#include <string>

#include "fs/options/options.hpp"
#include "fs/serving/fuse.hpp"

namespace tensorfs {

/// Our place in the kernel's tree of mounts, and how it is left. Unmounting is by path, so each way out looks first
/// whether what is on top there is still ours:
///
/// | situation                                     | called           | what is done                                  |
/// |-----------------------------------------------|------------------|-----------------------------------------------|
/// | nobody used it for long enough                | unmount_unused() | umount(2), which the kernel refuses if in use |
/// | it ends, and is on top of its mount point     | unmount()        | it is unmounted there, each time it is there  |
/// | it ends, and somebody else has unmounted it   | unmount()        | only the device is closed                     |
/// | it ends, and something is mounted over it, or | unmount()        | give_up(): the connection ends, so users get  |
/// |   its mount was moved or never seen           |                  |   ENOTCONN, and the path is left alone        |
/// | requests or notifications are stuck           | sever()          | the kernel fails all that wait for an answer, |
/// |                                               |                  |   and it is unmounted though in use           |
/// | the mount point is /dev/fd/N                  | any of them      | only the device is closed                     |
///
/// It belongs to one thread.
class KernelMount {
public:
    /// Checks the mount point, and that FUSE can be used. Throws Failure (mountpoint or no_fuse).
    explicit KernelMount(const std::string& mountpoint);

    /// Mounts. `session` must outlive the mount. Throws Failure (mount_failed); libfuse may have logged details before.
    void mount(fuse_session* session, const MountOptions& options);
    /// Lets the kernel read ahead in steps of 512 KiB instead of 128, so that what it maps comes in fewer requests.
    /// Only root may; for others, reading maps is slower.
    void raise_read_ahead() const;

    [[nodiscard]] bool unmount_unused() const;
    void unmount();
    void sever();

private:
    [[nodiscard]] bool is_on_top() const;
    [[nodiscard]] bool is_connected() const;
    void give_up() const;

    std::string mountpoint_;
    bool is_device_;         // the mount point is /dev/fd/N
    std::string real_path_;  // the mount point as the kernel lists it
    std::string device_;     // of the mount, as the kernel lists it; empty if it was never seen
    fuse_session* session_ = nullptr;
    bool is_mounted_ = false;
};

}  // namespace tensorfs
