#include "fs/daemon/session.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "fs/daemon/fuse_arguments.hpp"
#include "fs/daemon/mountpoint.hpp"
#include "fs/daemon/mounts.hpp"
#include "fs/daemon/privileges.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/log.hpp"

namespace tensorfs {
namespace {

/// How long requests under way may take when the mount is to end.
constexpr std::chrono::seconds patience{3};

/// Wakes a worker from its read of the FUSE device. It does nothing by itself.
constexpr int wake_signal = SIGUSR1;

/// Lets a worker be woken.
void take_wake_signal() {
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};  // and no SA_RESTART: a read is to end
    ::sigaction(wake_signal, &nothing, nullptr);
}

/// Of the request that was received, the kind (FUSE_LOOKUP and so on).
std::uint32_t kind_of(const fuse_buf& request) { return static_cast<const fuse_in_header*>(request.mem)->opcode; }

/// Whether a request that was received is answered from the tree alone, so that nothing can keep it
/// waiting: neither a shard's disk nor bytes that must be made first.
bool answers_from_memory(const fuse_buf& request) {
    const auto* const header = static_cast<const fuse_in_header*>(request.mem);
    const Inode inode = NodeId::from_number(header->nodeid).inode;
    if (header->opcode == FUSE_LOOKUP && inode == Inode{}) return false;  // it may be for .tensorfs
    return header->opcode != FUSE_READ && inode.view == View::raw;
}

/// Waits for the next request without sleeping, for a short while: to be woken takes longer than most
/// answers, and who walks through folders asks again at once.
void await_request(int device) {
    constexpr std::chrono::microseconds longest{50};
    pollfd source{device, POLLIN, 0};
    const auto deadline = std::chrono::steady_clock::now() + longest;
    while (::poll(&source, 1, 0) == 0 && std::chrono::steady_clock::now() < deadline) {
    }
}

}  // namespace

Session::Session(const MountOptions& options, Served& served)
    : mountpoint_(options.mountpoint),
      is_mounted_before_(is_device(mountpoint_)),
      most_workers_(options.threads),
      is_baseline_(options.is_baseline),
      session_(nullptr, fuse_session_destroy) {
    take_wake_signal();
    if (!is_mounted_before_) {
        check_mountpoint(mountpoint_);
        real_mountpoint_ = real_path(mountpoint_);  // while asking for it asks nothing of ourselves
        check_fuse();
    }

    FuseArguments arguments(options, served.generations.current()->volume.model().location());
    session_.reset(fuse_session_new(arguments.get(), &operations(), sizeof(fuse_lowlevel_ops), &served));
    if (!session_) throw Failure(ExitCode::mount_failed, "libfuse does not take the mount options");
    // A thread that cannot be had is found out now, while there is nothing to be unmounted: for an
    // ordinary user that takes another process.
    if (!add_worker()) throw Failure(ExitCode::internal, "cannot start a thread");
    if (fuse_session_mount(session_.get(), mountpoint_.c_str()) != 0) {
        let_work(Start::never);
        workers_.front().join();
        throw Failure(ExitCode::mount_failed,
                      fmt::format("cannot mount on {}{}", printable(mountpoint_), advice(options)));
    }
    mounted_ = true;
    if (const std::optional<Mount> mount = find_mount(real_mountpoint_)) device_ = mount->device;
}

Session::~Session() { stop(); }

void Session::start() {
    let_work(Start::now);
    // Asking the mount ourselves would be simpler, and could hang for good: a process that is killed
    // while it waits for itself can neither answer nor end.
    std::array<pollfd, 2> sources{{{answering_.pending().get(), POLLIN, 0}, {finished().get(), POLLIN, 0}}};
    while (::poll(sources.data(), sources.size(), -1) < 0 && errno == EINTR) {
    }
    if ((sources[0].revents & POLLIN) == 0) {
        throw Failure(ExitCode::mount_failed, fmt::format("{} was unmounted at once", printable(mountpoint_)));
    }
    if (!is_mounted_before_ && !is_baseline_) raise_read_ahead(device_);
}

bool Session::is_answering() {
    const std::uint64_t answered = answered_.load();
    return std::exchange(answered_before_, answered) != answered || waiting_.load() != 0 ||
           reading_.load() == working_.load();
}

/// Unmounting is by path, and takes what is on top there.
bool Session::is_on_top() const {
    const std::optional<Mount> there = find_mount(real_mountpoint_);
    return there && there->device == device_;
}

bool Session::is_connected() const {
    pollfd device{fuse_session_fd(session_.get()), 0, 0};
    return ::poll(&device, 1, 0) == 0;
}

bool Session::unmount_unused() {
    if (!is_on_top()) return false;
    use_reading_privilege();  // on the way there may be a folder that only its owner may pass
    const bool is_unmounted = tensorfs::unmount_unused(real_mountpoint_);
    drop_privileges_but_reading();
    return is_unmounted;
}

void Session::unmount() {
    if (!std::exchange(mounted_, false)) return;
    use_reading_privilege();  // on the way there may be a folder that only its owner may pass
    const bool was_there = is_connected();
    if (is_mounted_before_ || !was_there || is_on_top()) {
        fuse_session_unmount(session_.get());
        // It may be there several times, as by `mount --bind` onto itself. Where it had gone before, its device
        // may be another's by now.
        while (was_there && !is_mounted_before_ && is_on_top() && detach(real_mountpoint_)) {
        }
        return;
    }
    if (device_.empty()) {
        spdlog::warn("{}: it was never seen among the mounts, so that it is left to be unmounted",
                     printable(mountpoint_));
    } else if (find_mount(real_mountpoint_)) {
        spdlog::warn(
            "{}: another filesystem was mounted over it and stays; clear what is dead beneath it when that is gone",
            printable(mountpoint_));
    }
    give_up();
}

/// Ends the connection, and has libfuse free what it holds without unmounting, which would be by path.
void Session::give_up() {
    // To poll(2), a pipe that nobody reads is as a device whose connection has ended; with the device it ends.
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    Descriptor(ends[0]).reset();
    const Descriptor severed(ends[1]);
    if (::dup2(severed.get(), fuse_session_fd(session_.get())) >= 0) fuse_session_unmount(session_.get());
}

/// Has the kernel give an error to everyone who waits for an answer, now that there will be none: it may be that
/// telling it something waits for one of them, and a thread that does can neither be joined nor killed.
void Session::sever() {
    use_reading_privilege();
    if (!is_mounted_before_ && is_connected() && is_on_top()) {
        if (::umount2(real_mountpoint_.c_str(), MNT_FORCE | MNT_DETACH) != 0) {  // which is for root
            std::ofstream(fmt::format("/sys/fs/fuse/connections/{}/abort", device_.substr(device_.find(':') + 1))) << 1;
            detach(real_mountpoint_);
        }
        mounted_ = false;
    }
    unmount();
}

/// Tells the kernel something, by `say()`, as long as there is somebody to answer: the kernel waits for requests
/// that are under way in a folder before it forgets a name there.
template <typename Say>
int Session::tell(const Say& say) {
    telling_.fetch_add(1);
    const int result = is_ending_.load() ? -ENOTCONN : say();
    telling_.fetch_sub(1);
    return result;
}

void Session::forget_root() {
    // Errors mean that there is nothing to forget.
    tell([&] { return fuse_lowlevel_notify_inval_inode(session_.get(), FUSE_ROOT_ID, 0, 0); });
}

bool Session::knows(std::uint64_t node_id) {
    const int result = tell([&] { return fuse_lowlevel_notify_inval_inode(session_.get(), node_id, -1, 0); });
    return result != -ENOENT && result != -ENOTCONN;
}

void Session::forget_name(std::uint64_t folder, std::string_view name) noexcept {
    std::array<char, NAME_MAX + 1> text{};  // with a NUL behind it
    name = name.substr(0, NAME_MAX);
    name.copy(text.data(), name.size());
    tell([&] { return fuse_lowlevel_notify_inval_entry(session_.get(), folder, text.data(), name.size()); });
}

void Session::stop() {
    fuse_session* const session = session_.get();
    if (session == nullptr) return;
    if (start_.load() == Start::not_yet) let_work(Start::never);
    // What the kernel is being told may wait for requests under way: the workers go after that.
    is_ending_.store(true);
    const auto end_of_telling = std::chrono::steady_clock::now() + patience;
    while (telling_.load() != 0 && std::chrono::steady_clock::now() < end_of_telling) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    fuse_session_exit(session);
    // The flag is seen only by those who look: wake the others, again until none is left, since a
    // signal can come just before a read. Requests under way are answered first, unless a shard's
    // disk lets them hang.
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (working_.load() != 0 && std::chrono::steady_clock::now() < deadline) {
        {
            const std::lock_guard lock(mutex_);
            for (std::thread& worker : workers_) pthread_kill(worker.native_handle(), wake_signal);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (working_.load() != 0) {
        spdlog::warn("{}: unmounting though requests are stuck in reading a shard", printable(mountpoint_));
        sever();
        std::_Exit(static_cast<int>(ExitCode::ok));  // threads that are stuck cannot be joined
    }
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    if (telling_.load() != 0) sever();
    unmount();
}

void Session::let_work(Start start) {
    start_.store(start);
    start_.notify_all();
}

bool Session::add_worker() {
    const std::lock_guard lock(mutex_);
    if (workers_.size() >= most_workers_) return false;
    working_.fetch_add(1);
    waiting_.fetch_add(1);
    try {
        workers_.emplace_back([this] { work(); });
        return true;
    } catch (const std::system_error&) {
        working_.fetch_sub(1);  // no more threads to be had: those there are go on
        waiting_.fetch_sub(1);
        return false;
    }
}

/// A worker's life: counted in waiting_ and working_ by whoever started it.
void Session::work() {
    start_.wait(Start::not_yet);
    if (!has_answered_.load()) drop_privileges();  // which each thread has of its own; later ones have this one's
    fuse_session* const session = session_.get();
    fuse_buf buffer{};
    while (start_.load() == Start::now && fuse_session_exited(session) == 0) {
        const int got = fuse_session_receive_buf(session, &buffer);
        if (got == -EINTR || got == -EAGAIN) continue;
        if (got <= 0) break;  // unmounted, or the device failed: libfuse has said so
        const bool is_quick = answers_from_memory(buffer);
        const bool is_read = kind_of(buffer) == FUSE_READ;
        if (waiting_.fetch_sub(1) == 1 && !is_quick) add_worker();
        if (is_read) reading_.fetch_add(1);
        fuse_session_process_buf(session, &buffer);
        if (is_read) reading_.fetch_sub(1);
        answered_.fetch_add(1);
        if (is_quick && !is_baseline_) await_request(fuse_session_fd(session));
        if (!has_answered_.exchange(true)) answering_.notify();
        waiting_.fetch_add(1);
    }
    std::free(buffer.mem);
    if (working_.fetch_sub(1) == 1) finished_.notify();
}

}  // namespace tensorfs
