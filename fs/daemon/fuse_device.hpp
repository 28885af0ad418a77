#pragma once

#include <string>

#include "fs/options/options.hpp"

namespace tensorfs {

/// Throws Failure (no_fuse), which says what can be done, unless this process may use /dev/fuse.
void check_fuse();

/// What may have kept an ordinary user from mounting, in parentheses, or nothing. libfuse and fusermount3 have said the
/// rest.
std::string mount_advice(const MountOptions& options);

}  // namespace tensorfs
