#pragma once

#include <memory>
#include <string>
#include <thread>

#include "core/base/descriptor.hpp"
#include "fs/daemon/event.hpp"
#include "fs/daemon/session.hpp"
#include "fs/options/options.hpp"
#include "fs/serving/served.hpp"

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

    /// Begins to look at the source again; or, while that is under way, will once more afterwards.
    void start();
    /// Begins to make the kernel forget what nobody uses any more of old models, unless something is under way.
    /// It knows what was in use when another model took its place, and what was found in that since.
    void tidy();
    /// Readable when what was begun has come to an end.
    [[nodiscard]] const Descriptor& finished() const { return finished_.pending(); }
    /// To be called then. True if the source was looked at, and is not once more.
    bool end();
    /// Whether something was begun.
    [[nodiscard]] bool is_under_way() const { return thread_.joinable(); }

private:
    enum class Task : std::uint8_t { look_again, tidy };

    void begin(Task task);
    void work(Task task) noexcept;
    void tidy_up() noexcept;
    void look_again_or_say_why() noexcept;
    void say_why() noexcept;
    void look_again();
    void show(Model model);
    void forget_root(const Generation& before, const Generation& next);
    void forget_names(const Generation& old);

    const MountOptions& options_;
    Served& served_;
    Session& session_;
    Event finished_;
    std::thread thread_;
    Task task_ = Task::look_again;  // of the thread
    bool once_more_ = false;
};

}  // namespace tensorfs
