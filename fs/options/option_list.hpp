#pragma once

#include <string_view>

#include "fs/options/options.hpp"

namespace tensorfs {

/// Applies a list such as "uid=1000,allow_other", as it follows -o; a comma or backslash in a value
/// has a backslash before it, or the value is a label of SELinux in double quotes. What mount(8) and fstab add for
/// their own use is accepted and does nothing. Throws Failure (usage) for an unknown option or a bad value.
void apply_option_list(MountOptions& options, std::string_view list);

/// The same for a verb that does not mount: options about the source only.
void apply_option_list(LoadOptions& options, std::string_view list);

}  // namespace tensorfs
