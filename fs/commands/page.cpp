#include "core/views/page/page.hpp"

#include "core/model/tree.hpp"
#include "fs/commands/load_source.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/options/option_list.hpp"
#include "fs/terminal/terminal.hpp"

namespace tensorfs {
namespace {

ExitCode run(const Typed& typed) {
    MountOptions options;  // as for a mount, since the folders are the mount's
    for (const std::string& list : typed.option_lists()) apply_option_list(options, list);
    const Model model = Model::load(find_source(typed.source(), options.load.source), options.load.on_problem);
    print(page(model, Tree(model, options.separators), PagePlace::anywhere));
    return ExitCode::ok;
}

}  // namespace

constexpr Verb page_verb{
    .name = "page",
    .summary = "the model as a page of HTML",
    .manual = R"(Prints a page for a browser, as a mount has it in
.Pa .tensorfs/index.html ,
but without links, so that it can be kept or sent: a map of the tensors by folder, a table that is searched and sorted, the
metadata, and what is wrong.
It is one file, and fetches nothing.)",
    .arguments = source_alone,
    .takes = [](const MountOption& option) { return option.is_of_source || option.name == "separators"; },
    .about_options =
        "A mount's other options are taken, too, so that its list can be given as it is; they change "
        "nothing.",
    .run = run,
};

}  // namespace tensorfs
