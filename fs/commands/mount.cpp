#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "core/base/escape.hpp"
#include "core/base/path.hpp"
#include "core/model/model.hpp"
#include "fs/commands/parse.hpp"
#include "fs/daemon/daemon.hpp"
#include "fs/daemon/loading.hpp"
#include "fs/daemon/mountpoint.hpp"
#include "fs/daemon/privileges.hpp"
#include "fs/daemon/session.hpp"
#include "fs/daemon/signals.hpp"
#include "fs/daemon/supervisor.hpp"
#include "fs/options/options.hpp"
#include "fs/terminal/log.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

/// Nothing if help was asked for, and has been shown.
std::optional<MountOptions> parse_mount(const Arguments& arguments) {
    MountOptions options;
    options.owner = {::geteuid(), ::getegid(), 0};
    std::vector<std::string> lists;
    const auto app = make_app("mount");
    app->add_option("SOURCE", options.source, "a model folder, a .safetensors file, an index or a Hub id")->required();
    app->add_option("MOUNTPOINT", options.mountpoint, "a folder, or an opened and mounted /dev/fuse as /dev/fd/N")
        ->required();
    app->add_flag("-f,--foreground", options.foreground, "stay in the foreground and log there");
    app->add_flag("-d,--debug", options.debug, "show every request (implies -f)");
    add_option_lists(*app, lists, [](const MountOption&) { return true; });
    if (!parse(*app, arguments)) return std::nullopt;
    for (const std::string& list : lists) apply_option_list(options, list);
    options.foreground = options.foreground || options.debug;
    if (options.debug) options.log_level = LogLevel::debug;
    if (is_device(options.mountpoint) && options.idle.count() != 0) {
        throw Failure(ExitCode::usage,
                      fmt::format("-o idle=: who has mounted {} is to unmount it", options.mountpoint));
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

}  // namespace

ExitCode run_mount(const Arguments& arguments) {
    std::optional<MountOptions> parsed = parse_mount(arguments);
    if (!parsed) return ExitCode::ok;
    MountOptions& options = *parsed;
    Daemon daemon = options.foreground ? Daemon() : Daemon::go();
    log_to_terminal(options.log_level);
    // The daemon leaves the working folder, so what was typed relative to it is made absolute.
    options.mountpoint = absolute_path(options.mountpoint);
    Model model = load_and_map(options.source, options, [](const std::string& note) { complain("note: " + note); });
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

}  // namespace tensorfs
