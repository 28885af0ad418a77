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

constexpr std::chrono::seconds shortest_tidy_pause{1};
constexpr std::chrono::seconds longest_tidy_pause{64};

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
    : signals_(signals), options_(options), served_(served), session_(session), reloader_(options, served, session) {}

void Supervisor::run() {
    manager_.ready(status());
    for (bool goes_on = true; goes_on;) {
        std::array<pollfd, 3> sources{{{signals_.pending().get(), POLLIN, 0},
                                       {session_.finished().get(), POLLIN, 0},
                                       {reloader_.finished().get(), POLLIN, 0}}};
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_look() - Clock::now());
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
            next_tidy_ = Clock::now();
            tidy_pause_ = shortest_tidy_pause;
        }
        let_go_of_old(Clock::now());
        look_for_use(Clock::now());
        tell_alive(Clock::now());
    }
    stop();
}

Supervisor::Clock::time_point Supervisor::next_look() const {
    Clock::time_point next = Clock::time_point::max();
    if (manager_.watchdog_interval().count() != 0) next = std::min(next, next_alive_);
    if (options_.idle.count() != 0) next = std::min(next, next_use_);
    return std::min({next, next_tidy_, Clock::now() + 1h});
}

/// False if the mount is to end.
bool Supervisor::obey_signal() {
    const Signals::Wish wish = signals_.take();
    if (wish == Signals::Wish::look_again) {
        manager_.reloading();
        reloader_.start();
        if (!reloader_.is_under_way()) manager_.ready(status());
    }
    return wish != Signals::Wish::end;
}

/// Unmounts what was not used for long enough and is not in use.
void Supervisor::look_for_use(Clock::time_point now) {
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
        last_use_ = now;  // a working folder, or another mount on it: a use, too
    }
}

/// As long as an old model is held, looks ever more rarely for what of it nobody uses any more.
void Supervisor::let_go_of_old(Clock::time_point now) {
    if (now < next_tidy_) return;
    if (served_.generations.size() == 1) {
        ::malloc_trim(0);  // what the old ones took, and what was loaded and is not shown
        next_tidy_ = Clock::time_point::max();
        return;
    }
    reloader_.tidy();
    next_tidy_ = now + tidy_pause_;
    tidy_pause_ = std::min<Clock::duration>(tidy_pause_ * 2, longest_tidy_pause);
}

void Supervisor::tell_alive(Clock::time_point now) {
    if (manager_.watchdog_interval().count() == 0 || now < next_alive_) return;
    next_alive_ = now + manager_.watchdog_interval();
    if (session_.is_answering()) {
        manager_.alive();
    } else {
        spdlog::warn("{}: no request was answered since the last look", printable(options_.mountpoint));
    }
}

void Supervisor::stop() {
    manager_.stopping();
    session_.stop();
    if (!reloader_.is_under_way() || wait_for(reloader_.finished(), 3s)) return;
    spdlog::warn("{}: the source's disk does not answer", printable(options_.source));
    std::_Exit(static_cast<int>(ExitCode::ok));  // a thread that is stuck cannot be joined
}

std::string Supervisor::status() const {
    const std::shared_ptr<const Generation> generation = served_.generations.current();
    const Model& model = generation->volume.model();
    const std::string failure = served_.last_failure.get();
    return fmt::format("{} of {} on {}{}", counted(model.tensors().size(), "tensor"), model.location(),
                       options_.mountpoint,
                       failure.empty() ? "" : "; the source as it is now is not taken up: " + failure);
}

}  // namespace tensorfs
