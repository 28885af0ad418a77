#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.hpp"
#include "core/sources/source.hpp"
#include "fs/options/cache_mode.hpp"
#include "fs/options/owner.hpp"
#include "fs/terminal/log_level.hpp"

namespace tensorfs {

/// How a source is to be found and loaded.
struct LoadOptions {
    SourceOptions source;
    OnProblem on_problem = OnProblem::refuse;
};

/// What was typed to mount.
struct MountOptions {
    std::string source;
    LoadOptions load;
    std::string mountpoint;
    bool foreground = false;        // -f: stay, log to the terminal
    bool debug = false;             // -d: show every request; stays in the foreground
    std::string separators = "./";  // where names are cut into folders
    unsigned threads = 64;          // the most requests answered at once
    Cache cache = Cache::keep;      // where the system keeps what was read
    std::chrono::seconds idle{0};   // unmount when unused for so long; 0: never
    LogLevel log_level = LogLevel::info;
    bool is_baseline = false;       // without what makes it fast, to be compared with
    Owner owner;                    // the mounting user, unless uid= and gid= say otherwise
    std::vector<std::string> fuse;  // for libfuse and the kernel as they are, such as "allow_other"
};

/// A mount option: a row of the table that parsing, --help and the manual share.
struct MountOption {
    std::string_view name;
    std::string_view argument;  // what stands behind "="; empty if nothing may
    std::string_view help;      // one line
    bool is_of_source;          // it is about the source, so that all verbs take it
    void (*apply)(MountOptions& options, std::string_view name, std::string_view value);
};

/// All options that are ours or are passed on, in the order of the manual.
std::span<const MountOption> mount_options();

/// Applies a list such as "uid=1000,allow_other", as it follows -o; a comma or backslash in a value
/// has a backslash before it. What mount(8) and fstab add for their own use is accepted and does
/// nothing. Throws Failure (usage) for an unknown option or a bad value.
void apply_option_list(MountOptions& options, std::string_view list);

/// The same for a verb that does not mount: options about the source only.
void apply_option_list(LoadOptions& options, std::string_view list);

}  // namespace tensorfs
