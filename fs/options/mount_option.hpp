#pragma once

#include <span>
#include <string_view>

#include "fs/options/options.hpp"
#include "fs/options/value.hpp"

namespace tensorfs {

/// A mount option: a row of the table that parsing, --help, the manual and completion are made from.
struct MountOption {
    std::string_view name;
    Value value{};              // what stands behind "="; without a name if nothing may
    std::string_view help;      // one line, for --help and completion
    std::string_view manual;    // what the manual says of it, in mdoc(7): all there is to know
    bool is_of_source = false;  // it is about the source, so that all verbs take it
    /// `value` has been checked against the choices, if there are any. Throws Failure (usage) for a bad one.
    void (*apply)(MountOptions& options, std::string_view name, std::string_view value);
};

/// All options that are ours or are passed on, in the order of help and of the manual.
std::span<const MountOption> mount_options();

/// "cache=MODE", "partial".
std::string spelling(const MountOption& option);

}  // namespace tensorfs
