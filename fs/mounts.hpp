#pragma once

#include <optional>
#include <string>

namespace tensorfs {

/// The type of the filesystem that is mounted just there, such as "ext4", by /proc/self/mountinfo;
/// the topmost where there are several. Nothing if it is no mount point. `path` is absolute.
std::optional<std::string> mounted_type(const std::string& path);

/// Whether a FUSE filesystem is there whose daemon has gone.
bool is_dead_mount(const std::string& path);

/// Takes a mount away, also one that is in use or dead: what is open in it fails from then on. False
/// if the system refuses.
bool detach(const std::string& path);

}  // namespace tensorfs
