#include "fs/daemon/kernel_mount.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <optional>
#include <utility>

#include "core/base/descriptor.hpp"
#include "core/base/escape.hpp"
#include "fs/daemon/fuse_device.hpp"
#include "fs/daemon/mountpoint.hpp"
#include "fs/daemon/mounts.hpp"
#include "fs/daemon/privileges.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/log.hpp"

namespace tensorfs {

KernelMount::KernelMount(const std::string& mountpoint) : mountpoint_(mountpoint), is_device_(is_device(mountpoint)) {
    if (is_device_) return;
    check_mountpoint(mountpoint_);
    real_path_ = real_path(mountpoint_);  // now: once it is mounted, resolving it would ask ourselves
    check_fuse();
}

void KernelMount::mount(fuse_session* session, const MountOptions& options) {
    session_ = session;
    if (fuse_session_mount(session_, mountpoint_.c_str()) != 0) {
        throw Failure(ExitCode::mount_failed,
                      fmt::format("cannot mount on {}{}", printable(mountpoint_), mount_advice(options)));
    }
    is_mounted_ = true;
    if (const std::optional<Mount> mount = find_mount(real_path_)) device_ = mount->device;
}

void KernelMount::raise_read_ahead() const {
    if (is_device_) return;
    constexpr int kib = 512;
    std::ofstream file(fmt::format("/sys/class/bdi/{}/read_ahead_kb", device_));  // which does not ask the mount
    file << kib << std::flush;
    if (!file) spdlog::debug("device {}: the kernel's read-ahead stays as it is", device_);
}

bool KernelMount::is_on_top() const {
    const std::optional<Mount> there = find_mount(real_path_);
    return there && there->device == device_;
}

/// False once it was unmounted everywhere.
bool KernelMount::is_connected() const {
    pollfd device{fuse_session_fd(session_), 0, 0};
    return ::poll(&device, 1, 0) == 0;
}

bool KernelMount::unmount_unused() const {
    if (!is_on_top()) return false;
    use_reading_privilege();  // the path may lead through a folder that only its owner may enter
    const bool is_unmounted = tensorfs::unmount_unused(real_path_);
    drop_privileges_but_reading();
    return is_unmounted;
}

void KernelMount::unmount() {
    if (!std::exchange(is_mounted_, false)) return;
    use_reading_privilege();  // the path may lead through a folder that only its owner may enter
    const bool was_there = is_connected();
    if (is_device_ || !was_there || is_on_top()) {
        fuse_session_unmount(session_);
        // It may be there several times, as by `mount --bind` onto itself. If it had gone before, its device number may
        // be another mount's by now.
        while (was_there && !is_device_ && is_on_top() && detach(real_path_)) {
        }
        return;
    }
    if (device_.empty()) {
        spdlog::warn("{}: it was never seen among the mounts and is left there; unmount it yourself",
                     printable(mountpoint_));
    } else if (find_mount(real_path_)) {
        spdlog::warn(
            "{}: another filesystem was mounted over it and stays; once that is gone, clear the dead mount beneath it",
            printable(mountpoint_));
    }
    give_up();
}

/// Ends the connection, and has libfuse free what it holds without unmounting.
void KernelMount::give_up() const {
    // libfuse does not unmount a device that poll(2) reports as an error, since its connection has ended. A pipe that
    // nobody reads looks the same, and taking the device's place, it closes that.
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    Descriptor(ends[0]).reset();
    const Descriptor broken(ends[1]);
    if (::dup2(broken.get(), fuse_session_fd(session_)) >= 0) fuse_session_unmount(session_);
}

void KernelMount::sever() {
    use_reading_privilege();
    if (!is_device_ && is_connected() && is_on_top()) {
        if (::umount2(real_path_.c_str(), MNT_FORCE | MNT_DETACH) != 0) {  // only root may
            std::ofstream(fmt::format("/sys/fs/fuse/connections/{}/abort", device_.substr(device_.find(':') + 1))) << 1;
            detach(real_path_);
        }
        is_mounted_ = false;
    }
    unmount();
}

}  // namespace tensorfs
