#pragma once

#include <sys/types.h>

namespace tensorfs {

/// Whose the files are, and which permissions are taken from them.
struct Owner {
    uid_t uid = 0;
    gid_t gid = 0;
    mode_t umask = 0;
};

}  // namespace tensorfs
