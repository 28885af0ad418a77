#include "fs/daemon/fuse_arguments.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"
#include "fs/terminal/failure.hpp"

namespace tensorfs {
namespace {

void add_to(char** list, const std::string& option) {
    if (fuse_opt_add_opt_escaped(list, option.c_str()) != 0) throw std::bad_alloc();
}

}  // namespace

std::string advice(const MountOptions& options) {
    if (::geteuid() == 0) return {};
    for (const std::string& option : options.fuse) {
        if (option == "allow_other" || option == "allow_root") {
            return fmt::format(" ({} needs the line `user_allow_other` in /etc/fuse.conf)", option);
        }
    }
    return " (fusermount3, of the package fuse3, mounts for ordinary users, on folders that they may write to)";
}

void check_fuse() {
    const Descriptor device(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
    if (device) return;
    const int error = errno;
    std::string_view hint;
    if (error == ENOENT || error == ENODEV || error == ENXIO) {
        hint = " (load the kernel module with `modprobe fuse`; give a container --device /dev/fuse)";
    } else if (error == EACCES || error == EPERM) {
        hint =
            " (this user, or this container, may not use it; give a container --device /dev/fuse --cap-add SYS_ADMIN)";
    }
    throw Failure(ExitCode::no_fuse, fmt::format("cannot open /dev/fuse: {}{}", system_message(error), hint));
}

FuseArguments::FuseArguments(const MountOptions& options, const std::string& source) {
    add("tensorfs");
    char* text = ::strdup("ro,nosuid,nodev,noexec,default_permissions,subtype=tensorfs");
    bool named = false;
    for (const std::string& option : options.fuse) {
        add_to(&text, option);
        named = named || option.starts_with("fsname=");
    }
    if (!named) add_to(&text, "fsname=" + source);
    const std::string list = text;
    std::free(text);
    add("-o");
    add(list);
    if (options.debug) add("-d");
}

void FuseArguments::add(const std::string& argument) {
    if (fuse_opt_add_arg(&arguments_, argument.c_str()) != 0) throw std::bad_alloc();
}

}  // namespace tensorfs
