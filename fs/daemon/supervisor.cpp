#include "fs/daemon/supervisor.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "fs/terminal/exit_code.hpp"
#include "fs/terminal/log.hpp"
#include "fs/terminal/quantity_text.hpp"

namespace tensorfs {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds shortest_forget_pause{1};
constexpr std::chrono::seconds longest_forget_pause{64};

bool wait_for(const Descriptor& event, std::chrono::milliseconds longest) {
    pollfd source{event.get(), POLLIN, 0};
    const auto deadline = std::chrono::steady_clock::now() + longest;
    int result = 0;
    do {
        const auto left = deadline - std::chrono::steady_clock::now();
        result = ::poll(&source, 1,
                        static_cast<int>(std::max(0ms, std::chrono::ceil<std::chrono::milliseconds>(left)).count()));
    } while (result < 0 && errno == EINTR);
    return result == 1;
}

}  // namespace

Supervisor::Supervisor(Signals& signals, const MountOptions& options, Served& served, Session& session)
    : signals_(signals),
      options_(options),
      served_(served),
      session_(session),
      reloader_(options, served, session.kernel_cache()) {}

void Supervisor::run() {
    manager_.ready(status());
    for (bool goes_on = true; goes_on;) {
        std::array<pollfd, 3> sources{{{signals_.pending().get(), POLLIN, 0},
                                       {session_.finished().get(), POLLIN, 0},
                                       {reloader_.finished().get(), POLLIN, 0}}};
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_check() - Clock::now());
        const int timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
        if (::poll(sources.data(), sources.size(), timeout) < 0) continue;  // a signal that does not concern us
        const auto has = [&](std::size_t i) { return (sources[i].revents & POLLIN) != 0; };
        if (has(1)) {
            spdlog::info("{}: unmounted", printable(options_.mountpoint));
            break;
        }
        if (has(0)) goes_on = obey_signal();
        if (has(2) && reloader_.end()) {
            manager_.ready(status());
            next_forget_ = Clock::now();
            forget_pause_ = shortest_forget_pause;
        }
        check_old_models(Clock::now());
        check_use(Clock::now());
        check_answering(Clock::now());
    }
    stop();
}

Supervisor::Clock::time_point Supervisor::next_check() const {
    Clock::time_point next = Clock::time_point::max();
    if (manager_.watchdog_interval().count() != 0) next = std::min(next, next_alive_);
    if (options_.idle.count() != 0) next = std::min(next, next_use_);
    return std::min({next, next_forget_, Clock::now() + 1h});
}

/// False if the mount is to end.
bool Supervisor::obey_signal() {
    const Signals::Wish wish = signals_.take();
    if (wish == Signals::Wish::reload) {
        manager_.reloading();
        reloader_.reload();
        if (!reloader_.is_busy()) manager_.ready(status());
    }
    return wish != Signals::Wish::end;
}

/// Unmounts if the mount was not used for long enough and is not in use.
void Supervisor::check_use(Clock::time_point now) {
    if (options_.idle.count() == 0 || now < next_use_) return;
    next_use_ = now + std::clamp<Clock::duration>(options_.idle / 10, 100ms, 10s);
    const std::uint64_t uses = served_.stats.uses();
    if (uses != uses_ || served_.open_files.load() > 0) {
        uses_ = uses;
        last_use_ = now;
    }
    if (now - last_use_ < options_.idle) return;
    if (session_.unmount_unused()) {
        spdlog::info("{}: unmounted, since nobody used it for {}", printable(options_.mountpoint),
                     counted(static_cast<std::uint64_t>(options_.idle.count()), "second"));
    } else {
        last_use_ = now;  // it is some process's working folder, or mounted over: a use, too
    }
}

/// While old models are held, makes the kernel forget what nobody uses of them, ever more rarely.
void Supervisor::check_old_models(Clock::time_point now) {
    if (now < next_forget_) return;
    if (served_.generations.size() == 1) {
        ::malloc_trim(0);  // what the old ones took, and what was loaded but is not shown
        next_forget_ = Clock::time_point::max();
        return;
    }
    reloader_.forget_old_models();
    next_forget_ = now + forget_pause_;
    forget_pause_ = std::min<Clock::duration>(forget_pause_ * 2, longest_forget_pause);
}

/// Tells a watchdog that requests are answered, if they are.
void Supervisor::check_answering(Clock::time_point now) {
    if (manager_.watchdog_interval().count() == 0 || now < next_alive_) return;
    next_alive_ = now + manager_.watchdog_interval();
    if (session_.is_answering()) {
        manager_.alive();
    } else {
        spdlog::warn("{}: no request was answered since the last check", printable(options_.mountpoint));
    }
}

void Supervisor::stop() {
    manager_.stopping();
    session_.stop();
    if (!reloader_.is_busy() || wait_for(reloader_.finished(), 3s)) return;
    spdlog::warn("{}: unmounted though the source's disk does not answer", printable(options_.source));
    std::_Exit(static_cast<int>(ExitCode::ok));  // a thread that is stuck cannot be joined
}

std::string Supervisor::status() const {
    const std::shared_ptr<const Generation> generation = served_.generations.current();
    const Model& model = generation->volume.model();
    const std::string failure = served_.last_failure.get();
    return fmt::format("{} of {} on {}{}", counted(model.tensors().size(), "tensor"), model.location(),
                       options_.mountpoint, failure.empty() ? "" : "; the last reload failed: " + failure);
}

}  // namespace tensorfs
