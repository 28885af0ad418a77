#include "fs/daemon/loading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/base/escape.hpp"
#include "core/base/path.hpp"
#include "core/sources/hub.hpp"
#include "fs/serving/fuse.hpp"
#include "fs/terminal/quantity_text.hpp"

namespace tensorfs {
namespace {

/// Says where a cache mode does less than it promises.
void say_what_cache_lacks(const Model& model, Cache cache, const std::function<void(const std::string&)>& say) {
#ifndef FUSE_CAP_DIRECT_IO_ALLOW_MMAP
    if (cache == Cache::direct) {
        say("with cache=direct, files cannot be mapped as shared (MAP_SHARED): libfuse can allow that from 3.17 on");
    }
#endif
    const auto is_closed = [](const Shard& shard) { return !shard.is_open(); };
    if (cache != Cache::keep && std::any_of(model.shards().begin(), model.shards().end(), is_closed)) {
        say("too few files may be open (see `ulimit -n`), so the shards' pages stay cached");
    }
}

}  // namespace

Model load_and_map(const std::string& source, const MountOptions& options,
                   const std::function<void(const std::string&)>& say) {
    Model model = Model::load(find_source(source, options.load.source), options.load.on_problem);
    for (const std::string& note : model.notes()) say(printable(note));
    if (const std::size_t count = model.problems().size(); count != 0) {
        say(fmt::format("{}; what is bad is left out and listed in .tensorfs/problems.json",
                        counted(count, "problem")));
    }
    model.map();
    say_what_cache_lacks(model, options.cache, say);
    return model;
}

std::string source_from_anywhere(const std::string& source) {
    std::error_code ignored;
    if (std::filesystem::exists(source, ignored)) return absolute_path(source);
    return is_hub_id(source) ? absolute_path(hub_folder(hub_cache(), source)) : source;
}

std::string source_to_show(const std::string& source) {
    std::error_code ignored;
    return std::filesystem::exists(source, ignored) ? absolute_path(source) : source;
}

}  // namespace tensorfs
