#include "fs/daemon/session.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "core/base/escape.hpp"
#include "fs/daemon/fuse_arguments.hpp"
#include "fs/serving/operations.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/log.hpp"

namespace tensorfs {
namespace {

/// How long requests and notifications under way may take when the mount is to end.
constexpr std::chrono::seconds patience{3};

}  // namespace

Session::Handle Session::make(const MountOptions& options, Served& served) {
    FuseArguments arguments(options);
    Handle session(fuse_session_new(arguments.get(), &operations(), sizeof(fuse_lowlevel_ops), &served),
                   fuse_session_destroy);
    if (!session) throw Failure(ExitCode::mount_failed, "libfuse does not take the mount options");
    return session;
}

Session::Session(const MountOptions& options, Served& served)
    : mountpoint_(options.mountpoint),
      is_baseline_(options.is_baseline),
      mount_(options.mountpoint),
      session_(make(options, served)),
      notifier_(session_.get()),
      workers_(session_.get(), options.threads, options.is_baseline) {
    mount_.mount(session_.get(), options);
}

Session::~Session() { stop(); }

void Session::start() {
    workers_.start();
    // To ask the mount itself would be simpler, and could hang for good: a process that is killed while it waits for
    // itself can neither answer nor end.
    std::array<pollfd, 2> sources{{{workers_.answering().get(), POLLIN, 0}, {finished().get(), POLLIN, 0}}};
    while (::poll(sources.data(), sources.size(), -1) < 0 && errno == EINTR) {
    }
    if ((sources[0].revents & POLLIN) == 0 || (sources[1].revents & POLLIN) != 0) {
        throw Failure(ExitCode::mount_failed,
                      fmt::format("the mount on {} ended while it was being made", printable(mountpoint_)));
    }
    if (!is_baseline_) mount_.raise_read_ahead();
}

void Session::stop() {
    notifier_.end(patience);  // first, since a notification may wait for requests
    if (!workers_.stop(patience)) {
        spdlog::warn("{}: unmounting though requests are stuck in reading a shard", printable(mountpoint_));
        mount_.sever();
        std::_Exit(static_cast<int>(ExitCode::ok));  // threads that are stuck cannot be joined
    }
    if (notifier_.is_notifying()) mount_.sever();
    mount_.unmount();
}

}  // namespace tensorfs
