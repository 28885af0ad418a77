#include "fs/daemon/fuse_arguments.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace tensorfs {
namespace {

void add_to(char** list, const std::string& option) {
    if (fuse_opt_add_opt_escaped(list, option.c_str()) != 0) throw std::bad_alloc();
}

}  // namespace

FuseArguments::FuseArguments(const MountOptions& options) {
    add("tensorfs");
    char* text = ::strdup("ro,nosuid,nodev,noexec,default_permissions,subtype=tensorfs");
    bool named = false;
    for (const std::string& option : options.fuse) {
        add_to(&text, option);
        named = named || option.starts_with("fsname=");
    }
    if (!named) add_to(&text, "fsname=" + options.shown_source);
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
