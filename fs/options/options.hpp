#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/model/model.hpp"
#include "core/sources/source.hpp"
#include "fs/options/cache_mode.hpp"
#include "fs/options/owner.hpp"
#include "fs/options/read_order.hpp"
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
    std::string shown_source;  // what findmnt and df show, unless fsname= says otherwise
    LoadOptions load;
    std::string mountpoint;
    bool foreground = false;                 // -f: stay, log to the terminal
    bool debug = false;                      // -d: show every request; stays in the foreground
    std::string separators = "./";           // where names are cut into folders
    unsigned threads = 64;                   // the most requests answered at once
    ReadOrder order = ReadOrder::automatic;  // in which the shards are read
    Cache cache = Cache::keep;               // where the system keeps what was read
    std::chrono::seconds idle{0};            // unmount when unused for so long; 0: never
    LogLevel log_level = LogLevel::info;
    bool is_baseline = false;       // without what makes it fast, to be compared with
    unsigned max_read = 0;          // the largest request in bytes; 0: what libfuse derives
    Owner owner;                    // the mounting user, unless uid= and gid= say otherwise
    std::vector<std::string> fuse;  // for libfuse and the kernel as they are, such as "allow_other"
};

}  // namespace tensorfs
