#include "fs/options/mount_option.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "core/base/escape.hpp"
#include "fs/terminal/failure.hpp"

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

/// A label of SELinux, as the kernel reads it: in double quotes if it has commas, which it has between categories.
void pass_on_label(MountOptions& options, std::string_view name, std::string_view value) {
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    if (value.empty() || value.find('"') != std::string_view::npos) {
        throw Failure(ExitCode::usage, fmt::format("-o {}=: \"{}\" is not a label", name, printable(value)));
    }
    const char* quote = value.find(',') == std::string_view::npos ? "" : "\"";
    options.fuse.push_back(fmt::format("{}={}{}{}", name, quote, value, quote));
}

// One of the choices in the option's row, which has been checked.

Cache cache_named(std::string_view mode) {
    return mode == "direct" ? Cache::direct : mode == "once" ? Cache::once : Cache::keep;
}

ReadOrder order_named(std::string_view order) {
    return order == "kept" ? ReadOrder::kept : order == "free" ? ReadOrder::free : ReadOrder::automatic;
}

LogLevel level_named(std::string_view level) {
    return level == "error"     ? LogLevel::error
           : level == "warning" ? LogLevel::warning
           : level == "debug"   ? LogLevel::debug
                                : LogLevel::info;
}

constexpr unsigned longest_idle = 31'536'000;  // a year of 365 days, in seconds
constexpr unsigned smallest_read = 4096;       // the kernel raises what is less
constexpr unsigned largest_read = 1 << 20;
constexpr unsigned largest_id = 4294967294;  // 2^32-1 means "no one"

constexpr std::array table{
    MountOption{
        .name = "index",
        .value = {"NAME", Completes::index},
        .help = "the index in the folder to go by",
        .manual = "uses this index of those in the folder.",
        .is_of_source = true,
        .apply = [](auto& o, auto, auto value) { o.load.source.choice.index = value; },
    },
    MountOption{
        .name = "variant",
        .value = {"NAME"},
        .help = "which variant to take, such as fp16 or Q4_K_M",
        .manual = R"(takes this variant, such as
.Cm fp16 ,
or this quantisation, such as
.Cm Q4_K_M ,
in any case.
In a pipeline, components that lack it are taken without it, and named.)",
        .is_of_source = true,
        .apply = [](auto& o, auto, auto value) { o.load.source.choice.variant = value; },
    },
    MountOption{
        .name = "revision",
        .value = {"NAME", Completes::revision},
        .help = "of a model in the Hub's cache: branch, tag or commit (main)",
        .manual = R"(takes this branch, tag or commit of a model in the Hub's cache; by default
.Cm main .)",
        .is_of_source = true,
        .apply = [](auto& o, auto, auto value) { o.load.source.revision = value; },
    },
    MountOption{
        .name = "key",
        .value = {"NAME"},
        .help = "the part of a nested checkpoint to take, such as state_dict",
        .manual =
            R"(takes this part of each file, for formats whose files can nest, such as PyTorch's: a dict in the checkpoint, as in
.Cm state_dict ,
with dots between where it lies deeper, as in
.Cm model.ema .
The names of its tensors then begin there.
A key that is not there is answered with those that are.)",
        .is_of_source = true,
        .apply = [](auto& o, auto, auto value) { o.load.source.key = value; },
    },
    MountOption{
        .name = "partial",
        .help = "show what is good of a damaged or incomplete model",
        .manual = R"(shows what is good of a damaged or incomplete model.
Whoever reads the mount may not notice what is missing: it is listed in
.Pa .tensorfs/problems.json .)",
        .is_of_source = true,
        .apply = [](auto& o, auto, auto) { o.load.on_problem = OnProblem::leave_out; },
    },
    MountOption{
        .name = "separators",
        .value = {"SET"},
        .help = "bytes that cut names into folders (./); empty: never",
        .manual = R"(cuts names into folders at these bytes, by default
.Ql ./ .
If it is empty, all tensors stand in one folder; one of 100,000 files is slow for
.Ql ls -l .)",
        .apply = [](auto& o, auto, auto value) { o.separators = value; },
    },
    MountOption{
        .name = "uid",
        .value = {"N"},
        .help = "owner of all files and folders (the mounting user)",
        .manual = R"(the owner of everything, by default the mounting user.
The kernel checks permissions by it.)",
        .apply = [](auto& o, auto name, auto value) { o.owner.uid = number(name, value, 10, largest_id); },
    },
    MountOption{
        .name = "gid",
        .value = {"N"},
        .help = "their group (the mounting user's)",
        .manual = "the group, likewise.",
        .apply = [](auto& o, auto name, auto value) { o.owner.gid = number(name, value, 10, largest_id); },
    },
    MountOption{
        .name = "umask",
        .value = {"OCTAL"},
        .help = "permissions taken from 0444 and 0555 (0)",
        .manual = "takes permissions away from 0444 for files and 0555 for folders.",
        .apply = [](auto& o, auto name, auto value) { o.owner.umask = number(name, value, 8, 0777); },
    },
    MountOption{
        .name = "cache",
        .value = {.name = "MODE", .choices = "keep|once|direct"},
        .help = "what is cached: keep (all), once (the mount), direct (none)",
        .manual = R"(what stays cached of what was read.
.Cm keep ,
the default: it stays in the page cache of the shard and in the mount's own, until memory is short.
.Cm once :
only in the mount's.
One copy instead of two, for a service that reads a large model through the mount; not for a machine where others read
the shards themselves.
.Cm direct :
nowhere.
For programs that read everything once, such as a loader for a GPU, or a model larger than memory; the machine's other
caches are left alone.
Reading again reads the disk again, and
.Dv MAP_SHARED
mappings
.Pq such as Li numpy.memmap
are refused with
.Dq \&No such device
where tensorfs was built with a libfuse older than 3.17; private ones work.
Where the limit of open files is lower than the number of shards, their pages cannot be dropped:
.Cm once
and
.Cm direct
are then like
.Cm keep
as far as the shards are concerned.)",
        .apply = [](auto& o, auto, auto value) { o.cache = cache_named(value); },
    },
    MountOption{
        .name = "order",
        .value = {.name = "ORDER", .choices = "auto|kept|free"},
        .help = "how shards are read: in order (kept), or as asked (free)",
        .manual = R"(how the shards are read.
.Cm kept :
in order and in large pieces, one request of a reader at a time, for filesystems on which a jump is dear, such as
those that get files from a web server.
.Cm free :
as readers ask, many requests at once and far ahead where the disk is slow.
.Cm auto ,
the default: in order where the shards lie on a filesystem of another program
.Pq FUSE ;
there, asking ahead is tried now and then, and kept up where it pays, but not on
.Xr rclone 1
and
.Xr httpdirfs 1 .)",
        .apply = [](auto& o, auto, auto value) { o.order = order_named(value); },
    },
    MountOption{
        .name = "threads",
        .value = {"N"},
        .help = "the most requests that are answered at once (64)",
        .manual = R"(the most requests that are answered at once, by default 64.
Fewer keep a slow or distant disk from being asked for many things at once.)",
        .apply = [](auto& o, auto name, auto value) { o.threads = number(name, value, 10, 4096, 1); },
    },
    MountOption{
        .name = "idle",
        .value = {"SECONDS"},
        .help = "unmount when unused so long, nothing open (0: never)",
        .manual = R"(unmounts when nobody has used the mount for this long and nothing of it is open: no file, folder,
working folder or mapping.
0, the default, is never.
Opening and listing are uses.
Asking for the attributes of a file that the kernel has cached is not, since the daemon does not hear of it; nor are
.Xr df 1
and
.Ql tensorfs info ,
so that monitoring does not keep a mount.
Use it only where something mounts the model again when it is wanted, such as
.Cm x-systemd.automount .)",
        .apply = [](auto& o, auto name,
                    auto value) { o.idle = std::chrono::seconds(number(name, value, 10, longest_idle)); },
    },
    MountOption{
        .name = "log",
        .value = {.name = "LEVEL", .choices = "error|warning|info|debug"},
        .help = "what is logged: error, warning, info or debug (info)",
        .manual = R"(logs what is at least as serious as
.Cm error
.Pq a shard that gives errors, a source that cannot be shown ,
.Cm warning
.Pq what was put right ,
.Cm info
.Pq the default: mounted, reloaded, unmounted and why
or
.Cm debug .
In the foreground it goes to the terminal, or to the journal if standard error is the journal; else to
.Xr syslog 3 .
Nothing of a tensor's content is ever logged.)",
        .apply = [](auto& o, auto, auto value) { o.log_level = level_named(value); },
    },
    MountOption{
        .name = "allow_other",
        .help = "let other users in, as the permissions say",
        .manual = R"(lets other users in, as the permissions say.
For all but root,
.Pa /etc/fuse.conf
must have the line
.Ql user_allow_other .)",
        .apply = pass_on,
    },
    MountOption{
        .name = "allow_root",
        .help = "let root in",
        .manual = "lets root in, besides the user, on the same condition.",
        .apply = pass_on,
    },
    MountOption{
        .name = "auto_unmount",
        .help = "unmount even if the daemon is killed",
        .manual = R"(unmounts even if the daemon is killed.
Takes a second process, of
.Xr fusermount3 1 .)",
        .apply = pass_on,
    },
    MountOption{
        .name = "max_read",
        .value = {"BYTES"},
        .help = "the largest request to read, for tests (1 MiB)",
        .manual = R"(the largest request, from 4,096 to 1,048,576 bytes, by default 1 MiB.
Smaller is slower: for tests.)",
        .apply =
            [](auto& o, auto name, auto value) {
                o.max_read = number(name, value, 10, largest_read, smallest_read);
                pass_on(o, name, value);
            },
    },
    MountOption{
        .name = "baseline",
        .help = "without what makes it fast, for benches",
        .manual = "mounts without the measures that make it fast, for benches to compare with.",
        .apply = [](auto& o, auto, auto) { o.is_baseline = true; },
    },
    MountOption{
        .name = "fsname",
        .value = {"TEXT"},
        .help = "what findmnt and df show as the source",
        .manual = R"(what
.Xr findmnt 8
and
.Xr df 1
show, by default the source as it was given: its path, made absolute, or the Hub id.)",
        .apply = pass_on,
    },
    MountOption{
        .name = "context",
        .value = {"LABEL"},
        .help = "SELinux: the label of all files and of the mount",
        .manual = R"(gives all files and the mount this label, where the kernel has SELinux; others refuse to mount.
Double quotes around the label keep its commas:
.Ql context=\(dqsystem_u:object_r:container_file_t:s0:c1,c2\(dq .)",
        .apply = pass_on_label,
    },
    MountOption{
        .name = "fscontext",
        .value = {"LABEL"},
        .help = "SELinux: the label of the mount alone",
        .manual = "the same for the mount alone.",
        .apply = pass_on_label,
    },
    MountOption{
        .name = "defcontext",
        .value = {"LABEL"},
        .help = "SELinux: the label of files without one",
        .manual = "the same for files that have no label.",
        .apply = pass_on_label,
    },
    MountOption{
        .name = "rootcontext",
        .value = {"LABEL"},
        .help = "SELinux: the label of the mount's top folder",
        .manual = "the same for the top folder.",
        .apply = pass_on_label,
    },
};

}  // namespace

std::span<const MountOption> mount_options() { return table; }

std::string spelling(const MountOption& option) {
    return option.value.name.empty() ? std::string(option.name) : fmt::format("{}={}", option.name, option.value.name);
}

}  // namespace tensorfs
