#include "fs/daemon/worker_pool.hpp"

#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "fs/daemon/privileges.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/volume/node.hpp"

namespace tensorfs {
namespace {

/// Wakes a worker from its read of the FUSE device, and does nothing else.
constexpr int wake_signal = SIGUSR1;

void take_wake_signal() {
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};  // and no SA_RESTART: a read is to end
    ::sigaction(wake_signal, &nothing, nullptr);
}

/// The kind of a request that was received: FUSE_LOOKUP and so on.
std::uint32_t kind_of(const fuse_buf& request) { return static_cast<const fuse_in_header*>(request.mem)->opcode; }

/// Whether a request is answered from the tree alone, so nothing can keep it waiting: neither a shard's disk nor a
/// content that must be made first.
bool answers_from_memory(const fuse_buf& request) {
    const auto* const header = static_cast<const fuse_in_header*>(request.mem);
    const Inode inode = NodeId::from_number(header->nodeid).inode;
    if (header->opcode == FUSE_LOOKUP && inode == Inode{}) return false;  // it may be for .tensorfs
    return header->opcode != FUSE_READ && inode.view == View::raw;
}

/// Polls for the next request for a short while without sleeping: waking up takes longer than most answers, and who
/// walks through folders asks again at once.
void await_request(int device) {
    constexpr std::chrono::microseconds longest{50};
    pollfd source{device, POLLIN, 0};
    const auto deadline = std::chrono::steady_clock::now() + longest;
    while (::poll(&source, 1, 0) == 0 && std::chrono::steady_clock::now() < deadline) {
    }
}

}  // namespace

WorkerPool::WorkerPool(fuse_session* session, unsigned most, bool is_baseline)
    : session_(session), most_(most), is_baseline_(is_baseline) {
    take_wake_signal();
    if (!add_worker()) throw Failure(ExitCode::internal, "cannot start a thread");
}

WorkerPool::~WorkerPool() {
    if (start_.load() == Start::not_yet) let_work(Start::never);
    for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::start() { let_work(Start::now); }

bool WorkerPool::stop(std::chrono::milliseconds patience) {
    if (start_.load() == Start::not_yet) let_work(Start::never);
    fuse_session_exit(session_);
    // Only a worker that is awake sees that flag. The others are woken until none is left, since a signal can come just
    // before a read.
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (working_.load() != 0 && std::chrono::steady_clock::now() < deadline) {
        {
            const std::lock_guard lock(mutex_);
            for (std::thread& thread : threads_) pthread_kill(thread.native_handle(), wake_signal);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (working_.load() != 0) return false;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return true;
}

bool WorkerPool::is_answering() {
    const std::uint64_t answered = answered_.load();
    return std::exchange(answered_before_, answered) != answered || waiting_.load() != 0 ||
           reading_.load() == working_.load();
}

void WorkerPool::let_work(Start start) {
    start_.store(start);
    start_.notify_all();
}

/// False if there are as many as there may be, or no more threads to be had: those there are go on.
bool WorkerPool::add_worker() {
    const std::lock_guard lock(mutex_);
    if (threads_.size() >= most_) return false;
    working_.fetch_add(1);
    waiting_.fetch_add(1);
    try {
        threads_.emplace_back([this] { work(); });
        return true;
    } catch (const std::system_error&) {
        working_.fetch_sub(1);
        waiting_.fetch_sub(1);
        return false;
    }
}

/// A worker's life.
void WorkerPool::work() {
    start_.wait(Start::not_yet);
    if (!has_answered_.load()) drop_privileges();  // each thread has its own; workers started later inherit these
    fuse_buf buffer{};
    while (start_.load() == Start::now && fuse_session_exited(session_) == 0) {
        const int got = fuse_session_receive_buf(session_, &buffer);
        if (got == -EINTR || got == -EAGAIN) continue;
        if (got <= 0) break;  // unmounted, or the device failed, which libfuse has logged
        const bool is_quick = answers_from_memory(buffer);
        const bool is_read = kind_of(buffer) == FUSE_READ;
        if (waiting_.fetch_sub(1) == 1 && !is_quick) add_worker();
        if (is_read) reading_.fetch_add(1);
        fuse_session_process_buf(session_, &buffer);
        if (is_read) reading_.fetch_sub(1);
        answered_.fetch_add(1);
        if (is_quick && !is_baseline_) await_request(fuse_session_fd(session_));
        // libfuse ends the session when it cannot agree with the kernel: then nothing is served, though it has
        // answered.
        if (fuse_session_exited(session_) == 0 && !has_answered_.exchange(true)) answering_.notify();
        waiting_.fetch_add(1);
    }
    std::free(buffer.mem);
    if (working_.fetch_sub(1) == 1) finished_.notify();
}

}  // namespace tensorfs
