#include "fs/options/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/escape.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

/// A number in `base` from `smallest` to `largest`, or Failure.
unsigned number(std::string_view option, std::string_view value, int base, unsigned largest, unsigned smallest = 0) {
    unsigned result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result, base);
    if (error != std::errc{} || end != value.data() + value.size() || result > largest || result < smallest) {
        throw Failure(ExitCode::usage, fmt::format("-o {}=: \"{}\" is not {} of {} to {}", option, printable(value),
                                                   base == 8 ? "an octal number" : "a number", smallest,
                                                   base == 8 ? fmt::format("{:o}", largest) : std::to_string(largest)));
    }
    return result;
}

void pass_on(MountOptions& options, std::string_view name, std::string_view value) {
    options.fuse.push_back(value.empty() ? std::string(name) : fmt::format("{}={}", name, value));
}

Cache cache_named(std::string_view value) {
    if (value == "keep") return Cache::keep;
    if (value == "once") return Cache::once;
    if (value == "direct") return Cache::direct;
    throw Failure(ExitCode::usage,
                  fmt::format("-o cache=: \"{}\" is not one of keep, once and direct", printable(value)));
}

LogLevel level_named(std::string_view value) {
    if (value == "error") return LogLevel::error;
    if (value == "warning") return LogLevel::warning;
    if (value == "info") return LogLevel::info;
    if (value == "debug") return LogLevel::debug;
    throw Failure(ExitCode::usage,
                  fmt::format("-o log=: \"{}\" is not one of error, warning, info and debug", printable(value)));
}

constexpr unsigned longest_idle = 31'536'000;  // a year of 365 days, in seconds
constexpr unsigned largest_id = 4294967294;    // 2^32-1 means "no one"

using Apply = void (*)(MountOptions&, std::string_view, std::string_view);

constexpr MountOption of_source(std::string_view name, std::string_view argument, std::string_view help, Apply apply) {
    return {name, argument, help, true, apply};
}
constexpr MountOption of_mount(std::string_view name, std::string_view argument, std::string_view help, Apply apply) {
    return {name, argument, help, false, apply};
}

constexpr std::array table{
    of_source("index", "NAME", "the index in the folder to go by",
              [](MountOptions& o, std::string_view, std::string_view value) { o.load.source.choice.index = value; }),
    of_source("variant", "NAME", "which variant to take, such as fp16",
              [](MountOptions& o, std::string_view, std::string_view value) { o.load.source.choice.variant = value; }),
    of_source("revision", "NAME", "of a model in the Hub's cache: branch, tag or commit (main)",
              [](MountOptions& o, std::string_view, std::string_view value) { o.load.source.revision = value; }),
    of_source("partial", "", "show what is good of a damaged or incomplete model",
              [](MountOptions& o, std::string_view, std::string_view) { o.load.on_problem = OnProblem::leave_out; }),
    of_mount("separators", "SET", "bytes at which names are cut into folders (./); empty: never",
             [](MountOptions& o, std::string_view, std::string_view value) { o.separators = value; }),
    of_mount("uid", "N", "owner of all files and folders (the mounting user)",
             [](MountOptions& o, std::string_view name, std::string_view value) {
                 o.owner.uid = number(name, value, 10, largest_id);
             }),
    of_mount("gid", "N", "their group (the mounting user's)",
             [](MountOptions& o, std::string_view name, std::string_view value) {
                 o.owner.gid = number(name, value, 10, largest_id);
             }),
    of_mount("umask", "OCTAL", "permissions taken from 0444 and 0555 (0)",
             [](MountOptions& o, std::string_view name, std::string_view value) {
                 o.owner.umask = number(name, value, 8, 0777);
             }),
    of_mount("cache", "MODE", "what stays cached: keep (all), once (the mount), direct (none)",
             [](MountOptions& o, std::string_view, std::string_view value) { o.cache = cache_named(value); }),
    of_mount("threads", "N", "the most requests that are answered at once (64)",
             [](MountOptions& o, std::string_view name, std::string_view value) {
                 o.threads = number(name, value, 10, 4096, 1);
             }),
    of_mount("idle", "SECONDS", "unmount when unused for so long, with nothing open (0: never)",
             [](MountOptions& o, std::string_view name, std::string_view value) {
                 o.idle = std::chrono::seconds(number(name, value, 10, longest_idle));
             }),
    of_mount("log", "LEVEL", "what is logged: error, warning, info or debug (info)",
             [](MountOptions& o, std::string_view, std::string_view value) { o.log_level = level_named(value); }),
    of_mount("allow_other", "", "let other users in, as the permissions say", pass_on),
    of_mount("allow_root", "", "let root in", pass_on),
    of_mount("auto_unmount", "", "unmount even if the daemon is killed", pass_on),
    of_mount("max_read", "BYTES", "the largest request to read, for tests (1 MiB)", pass_on),
    of_mount("baseline", "", "without what makes it fast, for benches",
             [](MountOptions& o, std::string_view, std::string_view) { o.is_baseline = true; }),
    of_mount("fsname", "TEXT", "what findmnt and df show as the source", pass_on),
};

/// What mount(8), fstab and systemd put into the list for themselves, and what is always so here.
constexpr std::array<std::string_view, 31> accepted{
    "defaults",    "ro",         "rw",         "nosuid", "suid",       "nodev",
    "dev",         "noexec",     "exec",       "auto",   "noauto",     "user",
    "users",       "nouser",     "owner",      "group",  "nofail",     "_netdev",
    "relatime",    "norelatime", "noatime",    "atime",  "nodiratime", "diratime",
    "strictatime", "lazytime",   "nolazytime", "sync",   "async",      "default_permissions",
    "nonempty"};

bool is_accepted(std::string_view name) {
    return name.starts_with("x-") || name.starts_with("X-") || name == "comment" || name == "subtype" ||
           std::find(accepted.begin(), accepted.end(), name) != accepted.end();
}

void apply_option(MountOptions& options, std::string_view text, bool only_of_source) {
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
    const auto* const row =
        std::find_if(table.begin(), table.end(), [&](const MountOption& o) { return o.name == name; });
    if (row == table.end() || (only_of_source && !row->is_of_source)) {
        if (is_accepted(name) && !only_of_source) return;
        if (row != table.end() || is_accepted(name)) {
            throw Failure(ExitCode::usage, fmt::format("-o {} is for mounting only", printable(name)));
        }
        if (name == "remount") {
            throw Failure(ExitCode::usage,
                          "a mount's options stay what they are: unmount it and mount again (to look at the source "
                          "again, SIGHUP is enough)");
        }
        throw Failure(ExitCode::usage, fmt::format("unknown mount option \"{}\"", printable(text)));
    }
    if (row->argument.empty() != (equals == std::string_view::npos)) {
        throw Failure(ExitCode::usage, row->argument.empty()
                                           ? fmt::format("-o {} takes no value", name)
                                           : fmt::format("-o {} needs a value: {}={}", name, name, row->argument));
    }
    row->apply(options, name, value);
}

void apply_list(MountOptions& options, std::string_view list, bool only_of_source) {
    std::string option;
    for (std::size_t at = 0; at <= list.size(); ++at) {
        if (at == list.size() || list[at] == ',') {
            if (!option.empty()) apply_option(options, option, only_of_source);
            option.clear();
        } else {
            if (list[at] == '\\' && at + 1 < list.size()) ++at;
            option += list[at];
        }
    }
}

}  // namespace

std::span<const MountOption> mount_options() { return table; }

void apply_option_list(MountOptions& options, std::string_view list) { apply_list(options, list, false); }

void apply_option_list(LoadOptions& options, std::string_view list) {
    MountOptions all;
    all.load = options;
    apply_list(all, list, true);
    options = all.load;
}

}  // namespace tensorfs
