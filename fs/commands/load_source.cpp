#include "fs/commands/load_source.hpp"

#include <fmt/format.h>

#include "core/base/escape.hpp"
#include "fs/daemon/mounts.hpp"
#include "fs/options/option_list.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {

LoadOptions load_options(const Typed& typed, OnProblem otherwise) {
    LoadOptions options{{}, otherwise};
    for (const std::string& list : typed.option_lists()) apply_option_list(options, list);
    return options;
}

Model load_source(const Typed& typed, OnProblem otherwise) { return load_source(typed.source(), typed, otherwise); }

Model load_source(const std::string& path, const Typed& typed, OnProblem otherwise) {
    const LoadOptions options = load_options(typed, otherwise);
    try {
        return Model::load(find_source(path, options.source), options.on_problem);
    } catch (const Error&) {
        if (is_dead_mount(path)) {
            complain(
                fmt::format("note: the daemon of the mount there is gone: mount again, or clear it with "
                            "`fusermount3 -uz {}`",
                            printable(path)));
        } else if (is_in_mount(path)) {
            complain(fmt::format("note: {} is in a mount of tensorfs; `tensorfs info MOUNTPOINT` tells of which source",
                                 printable(path)));
        }
        throw;
    }
}

}  // namespace tensorfs
