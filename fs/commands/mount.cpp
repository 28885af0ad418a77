#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/escape.hpp"
#include "core/model.hpp"
#include "fs/commands/parse.hpp"
#include "fs/daemon.hpp"
#include "fs/log.hpp"
#include "fs/options.hpp"
#include "fs/session.hpp"
#include "fs/terminal.hpp"

namespace tensorfs {
namespace {

/// Nothing to mount: help was asked for.
struct HelpShown {};

MountOptions parse_mount(const Arguments& arguments) {
    MountOptions options;
    options.owner = {::geteuid(), ::getegid(), 0};
    std::vector<std::string> lists;
    const auto app = make_app("mount");
    app->add_option("SOURCE", options.source)->required();
    app->add_option("MOUNTPOINT", options.mountpoint)->required();
    app->add_flag("-f,--foreground", options.foreground);
    app->add_flag("-d,--debug", options.debug);
    app->add_option("-o", lists)->allow_extra_args(false);
    app->set_help_flag();
    bool wants_help = false;
    app->add_flag("-h,--help", wants_help);
    if (std::find(arguments.begin(), arguments.end(), "-h") != arguments.end() ||
        std::find(arguments.begin(), arguments.end(), "--help") != arguments.end()) {
        print(help());
        throw HelpShown{};
    }
    parse(*app, arguments);
    for (const std::string& list : lists) apply_option_list(options, list);
    options.foreground = options.foreground || options.debug;
    return options;
}

/// Each shard takes a descriptor for as long as it is served.
void allow_many_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);  // if not, opening the shards says so
}

Model load(const std::string& path) {
    Model model = Model::load(find_source(path));
    for (const std::string& note : model.notes()) complain("note: " + printable(note));
    model.map();
    return model;
}

}  // namespace

ExitCode run_mount(const Arguments& arguments) {
    MountOptions options;
    try {
        options = parse_mount(arguments);
    } catch (const HelpShown&) {
        return ExitCode::ok;
    }
    Daemon daemon = options.foreground ? Daemon() : Daemon::go();
    log_to_terminal(options.debug);
    allow_many_files();
    // The daemon leaves the working folder, so what was typed relative to it is made absolute.
    options.mountpoint = std::filesystem::absolute(options.mountpoint).string();
    const Volume volume(load(options.source), options.separators);
    options.source = volume.model().source().absolute_path();
    Served served{volume, options.owner, {}};

    Session session(options, served);
    session.start();
    if (!options.foreground) log_to_syslog();
    if (daemon.ready()) session.wait();
    return ExitCode::ok;
}

}  // namespace tensorfs
