#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/base/escape.hpp"
#include "core/base/path.hpp"
#include "core/model/model.hpp"
#include "fs/commands/load_source.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/daemon/daemon.hpp"
#include "fs/daemon/loading.hpp"
#include "fs/daemon/mountpoint.hpp"
#include "fs/daemon/privileges.hpp"
#include "fs/daemon/session.hpp"
#include "fs/daemon/signals.hpp"
#include "fs/daemon/supervisor.hpp"
#include "fs/options/option_list.hpp"
#include "fs/options/options.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/log.hpp"
#include "fs/terminal/quantity_text.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

constexpr std::array arguments{
    source_argument,
    Argument{
        .value = {"MOUNTPOINT", Completes::folder},
        .help = "a folder, or an opened and mounted /dev/fuse as /dev/fd/N",
        .manual = R"(MOUNTPOINT is a folder.
A mount there whose daemon was killed is cleared first.
As
.Pa /dev/fd/N
it is a descriptor of
.Pa /dev/fuse
that somebody else has opened and mounted, and will unmount, such as
.Xr mount.fuse3 8
with
.Cm drop_privileges ,
or whoever starts a container.
The daemon then needs no right to mount; nor can it unmount, so
.Cm idle=
is refused.)",
    },
};

constexpr std::array flags{
    Flag{
        .name = "--foreground",
        .letter = "-f",
        .help = "stay in the foreground and log there",
        .manual = R"(With
.Fl f
.Pq Fl -foreground
the program stays in the foreground.)",
    },
    Flag{
        .name = "--debug",
        .letter = "-d",
        .help = "show every request (implies -f)",
        .manual = R"(With
.Fl d
.Pq Fl -debug
it does so, too, and shows each request.)",
    },
};

MountOptions mount_options_of(const Typed& typed) {
    MountOptions options;
    options.owner = {::geteuid(), ::getegid(), 0};
    options.source = typed.source();
    options.mountpoint = typed.value("MOUNTPOINT");
    for (const std::string& list : typed.option_lists()) apply_option_list(options, list);
    options.debug = typed.has("--debug");
    options.foreground = typed.has("--foreground") || options.debug;
    if (options.debug) options.log_level = LogLevel::debug;
    if (is_device(options.mountpoint) && options.idle.count() != 0) {
        throw Failure(ExitCode::usage,
                      fmt::format("-o idle=: {} must be unmounted by whoever mounted it", options.mountpoint));
    }
    return options;
}

void say_mounted(const MountOptions& options, const Served& served) {
    const std::shared_ptr<const Generation> generation = served.generations.current();
    const Model& model = generation->volume.model();
    spdlog::info("{}: mounted {}: {} in {}, {}", printable(options.mountpoint), printable(model.location()),
                 counted(model.tensors().size(), "tensor"), counted(model.shards().size(), "shard"),
                 human_bytes(model.nbytes()));
}

ExitCode run(const Typed& typed) {
    MountOptions options = mount_options_of(typed);
    Daemon daemon = options.foreground ? Daemon() : Daemon::go(options.mountpoint);
    log_to_terminal(options.log_level);
    // The daemon leaves the working folder, so what was typed relative to it is made absolute.
    options.mountpoint = absolute_path(options.mountpoint);
    Model model = load_and_map(options.source, options, [](const std::string& note) { complain("note: " + note); });
    options.shown_source = source_to_show(options.source);
    options.source = source_from_anywhere(options.source);
    Served served(options);
    served.generations.show(std::make_shared<Generation>(std::move(model), options, 0));
    ::malloc_trim(0);  // loading took several times what is kept

    Signals signals;
    Session session(options, served);
    drop_privileges_but_reading();
    session.start();
    if (!options.foreground) log_to_syslog(options.log_level);
    say_mounted(options, served);
    if (daemon.ready()) Supervisor(signals, options, served, session).run();
    return ExitCode::ok;
}

}  // namespace

constexpr Verb mount_verb{
    .name = "mount",
    .summary = "show a model as a folder, until `fusermount3 -u MOUNTPOINT`",
    .manual = R"(Mounts; the word may be left out.
The command returns when the mount answers, or fails with a message and an exit code.)",
    .arguments = arguments,
    .flags = flags,
    .takes = [](const MountOption&) { return true; },
    .run = run,
};

}  // namespace tensorfs
