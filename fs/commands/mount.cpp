#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "core/escape.hpp"
#include "core/model.hpp"
#include "core/path.hpp"
#include "fs/commands/parse.hpp"
#include "fs/daemon.hpp"
#include "fs/fuse.hpp"
#include "fs/log.hpp"
#include "fs/options.hpp"
#include "fs/privileges.hpp"
#include "fs/session.hpp"
#include "fs/terminal.hpp"

namespace tensorfs {
namespace {

constexpr std::array<std::string_view, 2> help_flags{"-h", "--help"};

/// Nothing if help was asked for, and has been shown.
std::optional<MountOptions> parse_mount(const Arguments& arguments) {
    MountOptions options;
    options.owner = {::geteuid(), ::getegid(), 0};
    std::vector<std::string> lists;
    const auto app = make_app("mount");
    app->add_option("SOURCE", options.source)->required();
    app->add_option("MOUNTPOINT", options.mountpoint)->required();
    app->add_flag("-f,--foreground", options.foreground);
    app->add_flag("-d,--debug", options.debug);
    app->add_option("-o", lists)->allow_extra_args(false);
    app->set_help_flag();  // the first screen is about mounting
    if (std::find_first_of(arguments.begin(), arguments.end(), help_flags.begin(), help_flags.end()) !=
        arguments.end()) {
        print(help());
        return std::nullopt;
    }
    parse(*app, arguments);
    for (const std::string& list : lists) apply_option_list(options, list);
    options.foreground = options.foreground || options.debug;
    return options;
}

Model load(const MountOptions& options) {
    Model model = Model::load(find_source(options.source, options.load.source), options.load.on_problem);
    for (const std::string& note : model.notes()) complain("note: " + printable(note));
    if (const std::size_t count = model.problems().size(); count != 0) {
        complain(
            fmt::format("note: {} problems; what is bad is left out and listed in .tensorfs/problems.json", count));
    }
    model.map();
    return model;
}

/// What the choice of a cache means here, where that is less than one might think.
void say_what_cache_lacks(const Model& model, Cache cache) {
#ifndef FUSE_CAP_DIRECT_IO_ALLOW_MMAP
    if (cache == Cache::direct) {
        complain(
            "note: with cache=direct, files cannot be mapped as shared (MAP_SHARED): libfuse can allow that from 3.17 "
            "on");
    }
#endif
    const auto is_closed = [](const Shard& shard) { return !shard.is_open(); };
    if (cache != Cache::keep && std::any_of(model.shards().begin(), model.shards().end(), is_closed)) {
        complain("note: the shards could not be kept open (see `ulimit -n`), so that their pages stay cached");
    }
}

}  // namespace

ExitCode run_mount(const Arguments& arguments) {
    std::optional<MountOptions> parsed = parse_mount(arguments);
    if (!parsed) return ExitCode::ok;
    MountOptions& options = *parsed;
    Daemon daemon = options.foreground ? Daemon() : Daemon::go();
    log_to_terminal(options.debug);
    // The daemon leaves the working folder, so what was typed relative to it is made absolute.
    options.mountpoint = absolute_path(options.mountpoint);
    const Volume volume(load(options), options.separators);
    options.source = volume.model().location();
    say_what_cache_lacks(volume.model(), options.cache);
    Served served(volume, options);

    ::malloc_trim(0);  // loading took several times what is kept

    Session session(options, served);
    drop_privileges();
    session.start();
    if (!options.foreground) log_to_syslog();
    if (daemon.ready()) session.wait();
    return ExitCode::ok;
}

}  // namespace tensorfs
