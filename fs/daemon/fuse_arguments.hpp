#pragma once

#include <string>

#include "fs/options/options.hpp"
#include "fs/serving/fuse.hpp"

namespace tensorfs {

/// The command line that libfuse parses, with its options escaped.
class FuseArguments {
public:
    /// Throws std::bad_alloc.
    explicit FuseArguments(const MountOptions& options);
    ~FuseArguments() { fuse_opt_free_args(&arguments_); }
    FuseArguments(const FuseArguments&) = delete;
    FuseArguments& operator=(const FuseArguments&) = delete;

    fuse_args* get() { return &arguments_; }

private:
    void add(const std::string& argument);

    fuse_args arguments_ = FUSE_ARGS_INIT(0, nullptr);
};

}  // namespace tensorfs
