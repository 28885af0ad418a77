#pragma once

namespace tensorfs {

/// How the program ends. Documented in the manual; scripts rely on the numbers.
enum class ExitCode : int {
    ok = 0,
    bad = 1,         // verify, stats --check: a source has problems; diff: something differs; export: infinities arose
    usage = 2,       // the command line is wrong
    no_source = 3,   // nothing is there, or no model, or no such tensor
    bad_source = 4,  // the model is damaged or incomplete
    unreadable = 5,  // the system refused to read the source
    mountpoint = 6,  // the mount point cannot be mounted on
    no_fuse = 7,     // the system has no FUSE, or does not let this user have it
    mount_failed = 8,  // mounting failed for another reason
    internal = 9,      // out of memory and the like
    unwritable = 10,   // what was to be written cannot be: it exists, the disk is full
};

}  // namespace tensorfs
