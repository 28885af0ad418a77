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

/// What is mounted just there, the topmost where there are several. Nothing if it is no mount point.
/// `path` is absolute and without symbolic links. The filesystem itself is not asked.
std::optional<Mount> find_mount(const std::string& path);

/// Whether something is there that is in a mount of tensorfs.
bool is_in_mount(const std::string& path);

/// Whether a FUSE filesystem is there whose daemon has gone.
bool is_dead_mount(const std::string& path);

/// Takes a FUSE mount away unless it is in use: something of it is open, or some process's working folder,
/// or mounted over. False if it is, or the system refuses.
bool unmount_unused(const std::string& path);

/// Takes a mount away, also one that is in use or dead: what is open in it fails from then on. False
/// if the system refuses.
bool detach(const std::string& path);

}  // namespace tensorfs
