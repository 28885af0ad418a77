#include "fs/commands/load_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/escape.hpp"
#include "fs/daemon/mounts.hpp"
#include "fs/options/option_list.hpp"
#include "fs/terminal/failure.hpp"
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

std::size_t named_tensor(const Model& model, const Typed& typed) {
    const std::string name = typed.value("NAME");
    // What ls prints comes first, since no two tensors are printed alike. Only escapes make it another
    // text than the name, and where one tensor's name looks like another's escapes, scripts still reach both.
    if (name.find('\\') != std::string::npos) {
        const auto found = std::find_if(model.tensors().begin(), model.tensors().end(),
                                        [&](const Tensor& tensor) { return printable(tensor.full_name()) == name; });
        if (found != model.tensors().end()) return static_cast<std::size_t>(found - model.tensors().begin());
    }
    if (const Tensor* const tensor = model.find(name)) return static_cast<std::size_t>(tensor - model.tensors().data());
    throw Failure(ExitCode::no_source, fmt::format("there is no tensor \"{}\" (`tensorfs ls {}` lists them)",
                                                   printable(name), printable(typed.source())));
}

}  // namespace tensorfs
