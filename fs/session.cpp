#include "fs/session.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/escape.hpp"
#include "fs/fuse_arguments.hpp"
#include "fs/log.hpp"
#include "fs/mountpoint.hpp"
#include "fs/mounts.hpp"
#include "fs/privileges.hpp"
#include "fs/terminal.hpp"

namespace tensorfs {
namespace {

/// How long requests under way may take when the mount is to end.
constexpr std::chrono::seconds patience{3};

/// Wakes a worker from its read of the FUSE device. It does nothing by itself.
constexpr int wake_signal = SIGUSR1;

/// Makes an eventfd readable.
void notify(const Descriptor& event) {
    const std::uint64_t one = 1;
    if (::write(event.get(), &one, sizeof one) != sizeof one) std::abort();  // an eventfd takes it
}

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
      answering_(::eventfd(0, EFD_CLOEXEC)),
      finished_(::eventfd(0, EFD_CLOEXEC)),
      session_(nullptr, fuse_session_destroy) {
    if (!answering_ || !finished_) throw Failure(ExitCode::internal, "cannot make an event: " + system_message(errno));
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
    std::array<pollfd, 2> sources{{{answering_.get(), POLLIN, 0}, {finished_.get(), POLLIN, 0}}};
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

bool Session::unmount_unused() { return is_on_top() && tensorfs::unmount_unused(real_mountpoint_); }

void Session::unmount() {
    if (!std::exchange(mounted_, false)) return;
    if (is_mounted_before_ || is_on_top()) {
        fuse_session_unmount(session_.get());
    } else if (device_.empty()) {
        spdlog::warn("{}: it was never seen among the mounts, so that it is left to be unmounted",
                     printable(mountpoint_));
    } else if (find_mount(real_mountpoint_)) {
        spdlog::warn(
            "{}: another filesystem was mounted over it and stays; clear what is dead beneath it when that is gone",
            printable(mountpoint_));
    }
}

void Session::forget_root(const std::vector<std::string>& names) {
    // What was answered before may be on its way. To forget a name, the kernel waits for lookups and
    // listings that are under way in the root; so what it kept of these is to be forgotten after that.
    // Errors mean that there is nothing to forget.
    const auto forget = [](fuse_session* to) { return fuse_lowlevel_notify_inval_inode(to, FUSE_ROOT_ID, 0, 0); };
    tell(forget);
    for (const std::string& name : names) forget_name(FUSE_ROOT_ID, name);
    tell(forget);
}

bool Session::knows(std::uint64_t node_id) {
    return tell([&](fuse_session* to) { return fuse_lowlevel_notify_inval_inode(to, node_id, -1, 0); }) != -ENOENT;
}

void Session::forget_name(std::uint64_t folder, const std::string& name) {
    tell([&](fuse_session* to) { return fuse_lowlevel_notify_inval_entry(to, folder, name.c_str(), name.size()); });
}

/// 0, or an errno value as a negative number.
template <typename Tell>
int Session::tell(const Tell& how) {
    const std::lock_guard lock(telling_);
    return ends_.load() ? -ENOENT : how(session_.get());
}

/// To be called while requests are answered: to forget a name, the kernel waits for the lookups in its folder. Would
/// nobody answer these any more, both would wait for each other, and no signal could end the process: the device is not
/// closed as long as something is written to it. It is not to be closed under a write, either.
void Session::end_telling() {
    ends_.store(true);
    if (const std::unique_lock lock(telling_, patience); lock) return;
    if (!is_mounted_before_ && is_on_top()) abort_requests(real_mountpoint_);  // those that answer are stuck
}

void Session::stop() {
    fuse_session* const session = session_.get();
    if (session == nullptr) return;
    if (start_.load() == Start::not_yet) let_work(Start::never);
    end_telling();
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
        unmount();
        std::_Exit(static_cast<int>(ExitCode::ok));  // threads that are stuck cannot be joined
    }
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
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
        if (!has_answered_.exchange(true)) notify(answering_);
        waiting_.fetch_add(1);
    }
    std::free(buffer.mem);
    if (working_.fetch_sub(1) == 1) notify(finished_);
}

}  // namespace tensorfs
