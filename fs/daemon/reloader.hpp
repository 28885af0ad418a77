#pragma once

#include <cstdint>
#include <thread>

#include "core/base/descriptor.hpp"
#include "core/model/model.hpp"
#include "fs/daemon/event.hpp"
#include "fs/options/options.hpp"
#include "fs/serving/kernel_cache.hpp"
#include "fs/serving/served.hpp"

namespace tensorfs {

/// Reloads the source of a running mount in a thread of its own, by the protocol in model_switch.hpp. What is open
/// stays what it was. If the source is bad, or unchanged, the mount stays as it is and the log says so.
///
/// It belongs to one thread, which is not one that answers requests.
class Reloader {
public:
    /// `options.source` is looked up anew at each reload. All three must outlive it. Throws Failure.
    Reloader(const MountOptions& options, Served& served, KernelCache& kernel);
    /// Waits for the thread.
    ~Reloader();
    Reloader(const Reloader&) = delete;
    Reloader& operator=(const Reloader&) = delete;

    /// Begins a reload. While the thread is busy, it will begin one more afterwards, however often it is asked.
    void reload();
    /// Begins to make the kernel forget what nobody uses any more of old models, unless the thread is busy.
    void forget_old_models();
    /// Readable when the thread is done.
    [[nodiscard]] const Descriptor& finished() const { return finished_.pending(); }
    /// Call it then. True if a reload has ended, well or not, and no more is to follow.
    bool end();
    /// From when something is begun until end().
    [[nodiscard]] bool is_busy() const { return thread_.joinable(); }

private:
    enum class Job : std::uint8_t { reload, forget };

    void begin(Job job);
    void run(Job job) noexcept;
    void load_and_switch();
    void log_failure() noexcept;

    const MountOptions& options_;
    Served& served_;
    KernelCache& kernel_;
    Event finished_;
    std::thread thread_;
    Job job_ = Job::reload;  // the thread's
    bool once_more_ = false;
};

}  // namespace tensorfs
