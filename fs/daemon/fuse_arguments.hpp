#pragma once

#include <string>

#include "fs/options/options.hpp"
#include "fs/serving/fuse.hpp"

namespace tensorfs {

/// Throws Failure (no_fuse), with what can be done, unless this process may use /dev/fuse.
void check_fuse();

/// What may have kept an ordinary user from mounting, in brackets, or nothing; libfuse and fusermount3
/// have said the rest.
std::string advice(const MountOptions& options);

/// The options for libfuse, escaped as its parser asks.
class FuseArguments {
public:
    /// `source` is shown as the source, unless an option says otherwise.
    FuseArguments(const MountOptions& options, const std::string& source);
    ~FuseArguments() { fuse_opt_free_args(&arguments_); }
    FuseArguments(const FuseArguments&) = delete;
    FuseArguments& operator=(const FuseArguments&) = delete;

    fuse_args* get() { return &arguments_; }

private:
    void add(const std::string& argument);

    fuse_args arguments_ = FUSE_ARGS_INIT(0, nullptr);
};

}  // namespace tensorfs
