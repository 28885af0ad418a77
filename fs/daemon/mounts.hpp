#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tensorfs {

/// A line of /proc/self/mountinfo.
struct Mount {
    std::string type;    // such as "ext4"
    std::string device;  // as "MAJOR:MINOR"
};

/// The type of our mounts.
inline constexpr std::string_view our_type = "fuse.tensorfs";

/// The topmost mount at just that path, or nothing. `path` is absolute and without symbolic links. Does not ask the
/// filesystem, which may hang.
std::optional<Mount> find_mount(const std::string& path);

/// Whether a path leads to something in a mount of tensorfs.
bool is_in_mount(const std::string& path);

/// Whether a path leads to a FUSE mount whose daemon is gone.
bool is_dead_mount(const std::string& path);

/// Unmounts FUSE unless it is in use: a file is open, a folder is some process's working folder, or something is
/// mounted over it. False if so, or if the system refuses.
bool unmount_unused(const std::string& path);

/// Unmounts even what is in use or dead; what is open in it fails from then on. False if the system refuses.
bool detach(const std::string& path);

}  // namespace tensorfs
