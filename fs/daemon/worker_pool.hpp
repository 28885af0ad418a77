#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/descriptor.hpp"
#include "fs/daemon/event.hpp"
#include "fs/serving/fuse.hpp"

namespace tensorfs {

/// The threads that answer a FUSE session's requests.
///
/// They are started as they are needed: a worker that takes a request while no other is waiting for one starts another,
/// up to a limit, so that a shard on a slow disk does not keep other readers waiting.
///
/// It belongs to one thread, which is none of its own.
class WorkerPool {
public:
    /// Starts the first worker, which waits for start(). A thread that cannot be had is so found out before there is
    /// anything to unmount. `session` must outlive the pool. Throws Failure (internal).
    WorkerPool(fuse_session* session, unsigned most, bool is_baseline);
    /// Joins the workers. REQUIRES: stop() returned true, or start() was never called.
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// Lets the workers answer. The session must be mounted.
    void start();
    /// Ends the workers: those that wait for a request at once, the others when they have answered theirs. False if
    /// that takes longer than `patience`; such threads cannot be joined, so the process must exit.
    [[nodiscard]] bool stop(std::chrono::milliseconds patience);

    /// Readable when the first request, FUSE_INIT, has been answered.
    [[nodiscard]] const Descriptor& answering() const noexcept { return answering_.pending(); }
    /// Readable when the last worker has ended.
    [[nodiscard]] const Descriptor& finished() const noexcept { return finished_.pending(); }

    /// False if every worker was stuck in one request since the last call. A READ does not count as stuck, since it may
    /// wait for a shard's disk.
    [[nodiscard]] bool is_answering();

private:
    enum class Start : std::uint8_t { not_yet, now, never };

    void work();
    bool add_worker();
    void let_work(Start start);

    fuse_session* session_;
    unsigned most_;
    bool is_baseline_;
    Event answering_;
    Event finished_;

    std::mutex mutex_;
    std::vector<std::thread> threads_;  // under mutex_; only grows until the pool ends

    // Until the first worker ends, and between changes, which come one by one:
    //   waiting_ + reading_ <= working_ <= most_
    // Whoever starts a worker counts it in working_ and waiting_ before it runs, so two workers that take requests at
    // once do not both start one. The worker whose request brings waiting_ to 0 starts the next; the one that brings
    // working_ to 0 is the last, and notifies finished_.
    std::atomic<Start> start_{Start::not_yet};  // changes once
    std::atomic<bool> has_answered_{false};     // changes once, when the first worker has answered FUSE_INIT
    std::atomic<unsigned> working_{0};          // workers that have not ended
    std::atomic<unsigned> waiting_{0};          // workers without a request; those that end stay counted
    std::atomic<unsigned> reading_{0};          // workers that answer a READ
    std::atomic<std::uint64_t> answered_{0};    // requests; only grows
    std::uint64_t answered_before_ = 0;         // at the last is_answering(), which alone uses it
};

}  // namespace tensorfs
