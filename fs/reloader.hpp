#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "core/descriptor.hpp"
#include "fs/options.hpp"
#include "fs/served.hpp"
#include "fs/session.hpp"

namespace tensorfs {

/// Lets a running mount follow its model: looks at the source again, in a thread of its own, and shows what
/// it finds there. What is open stays what it was. If the source is bad, or as it was, nothing changes but
/// the log. It belongs to one thread, which is not one that answers requests.
class Reloader {
public:
    /// `options.source` is looked up again. All three must outlive it. Throws Failure.
    Reloader(const MountOptions& options, Served& served, Session& session);
    /// Waits for what is under way.
    ~Reloader();
    Reloader(const Reloader&) = delete;
    Reloader& operator=(const Reloader&) = delete;

    /// Begins; or, while that is under way, once more afterwards.
    void start();
    /// Readable when that has come to an end.
    [[nodiscard]] const Descriptor& finished() const { return finished_; }
    /// To be called then. False if it has begun once more.
    bool end();
    [[nodiscard]] bool is_under_way() const { return thread_.joinable(); }
    /// Whether what was found last was bad.
    [[nodiscard]] bool has_failed() const { return has_failed_.load(); }

private:
    void work() noexcept;
    void fail();
    void look_again();
    void show(Model model);
    void forget_names(const Generation& old);

    const MountOptions& options_;
    Served& served_;
    Session& session_;
    Descriptor finished_;
    std::thread thread_;
    bool once_more_ = false;
    std::atomic<bool> has_failed_{false};
};

}  // namespace tensorfs
