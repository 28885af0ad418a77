#include "fs/options/option_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/escape.hpp"
#include "fs/options/mount_option.hpp"
#include "fs/terminal/failure.hpp"

namespace tensorfs {
namespace {

/// What mount(8), fstab and systemd put into the list for themselves, and what is always so here.
constexpr std::array<std::string_view, 31> accepted{
    "defaults",    "ro",         "rw",         "nosuid", "suid",       "nodev",
    "dev",         "noexec",     "exec",       "auto",   "noauto",     "user",
    "users",       "nouser",     "owner",      "group",  "nofail",     "_netdev",
    "relatime",    "norelatime", "noatime",    "atime",  "nodiratime", "diratime",
    "strictatime", "lazytime",   "nolazytime", "sync",   "async",      "default_permissions",
    "nonempty"};

bool is_accepted(std::string_view name) {
    return name.starts_with("x-") || name.starts_with("X-") || name == "comment" || name == "subtype" ||
           std::find(accepted.begin(), accepted.end(), name) != accepted.end();
}

void apply_option(MountOptions& options, std::string_view text, bool only_of_source) {
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
    const std::span<const MountOption> table = mount_options();
    const auto row = std::find_if(table.begin(), table.end(), [&](const MountOption& o) { return o.name == name; });
    if (row == table.end() || (only_of_source && !row->is_of_source)) {
        if (is_accepted(name) && !only_of_source) return;
        if (row != table.end() || is_accepted(name)) {
            throw Failure(ExitCode::usage, fmt::format("-o {} is for mounting only", printable(name)));
        }
        if (name == "remount") {
            throw Failure(ExitCode::usage,
                          "a mount's options stay what they are: unmount it and mount again (to look at the source "
                          "again, SIGHUP is enough)");
        }
        throw Failure(ExitCode::usage, fmt::format("unknown mount option \"{}\"", printable(text)));
    }
    if (row->value.name.empty() != (equals == std::string_view::npos)) {
        throw Failure(ExitCode::usage, row->value.name.empty()
                                           ? fmt::format("-o {} takes no value", name)
                                           : fmt::format("-o {} needs a value: {}={}", name, name, row->value.name));
    }
    check_choice(row->value, value, fmt::format("-o {}=:", name));
    row->apply(options, name, value);
}

/// Whether a double quote behind this begins a label of SELinux, which mount(8) writes so. Elsewhere it is a character.
bool can_be_quoted(std::string_view option) { return option.ends_with("context="); }

void apply_list(MountOptions& options, std::string_view list, bool only_of_source) {
    std::string option;
    bool is_quoted = false;
    for (std::size_t at = 0; at <= list.size(); ++at) {
        if (at < list.size() && list[at] == '"') is_quoted = !is_quoted && can_be_quoted(option);
        if (at == list.size() || (list[at] == ',' && !is_quoted)) {
            if (!option.empty()) apply_option(options, option, only_of_source);
            option.clear();
        } else {
            if (list[at] == '\\' && at + 1 < list.size()) ++at;
            option += list[at];
        }
    }
}

}  // namespace

void apply_option_list(MountOptions& options, std::string_view list) { apply_list(options, list, false); }

void apply_option_list(LoadOptions& options, std::string_view list) {
    MountOptions all;
    all.load = options;
    apply_list(all, list, true);
    options = all.load;
}

}  // namespace tensorfs
