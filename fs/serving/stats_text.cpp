#include "fs/serving/stats_text.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/escape.hpp"
#include "core/base/json_text.hpp"
#include "fs/statistics/memory.hpp"

namespace tensorfs {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_tensors = 10;
constexpr std::size_t most_faults = 10;

/// The text cut to at most `longest` bytes: an attribute holds 64 KiB, and one tensor's name can be longer than that.
std::string shortened(std::string_view text, std::size_t longest = 255) {
    constexpr std::string_view mark = "…";
    if (text.size() <= longest) return std::string(text);
    std::size_t end = 0;
    for (;;) {
        const std::size_t length = std::max<std::size_t>(utf8_length(text.substr(end)), 1);
        if (end + length + mark.size() > longest) break;
        end += length;
    }
    return std::string(text.substr(0, end)) + std::string(mark);
}

Json busiest(const Generation& generation) {
    Json all = Json::array();
    for (const Busy::Reads& reads : generation.busy.busiest(most_tensors)) {
        const Tensor& tensor = generation.volume.model().tensors()[reads.tensor];
        all.push_back({{"name", shortened(tensor.full_name())}, {"requests", reads.requests}, {"bytes", reads.nbytes}});
    }
    return all;
}

Json faults(const Generation& generation) {
    const std::vector<Faults::Fault> seen = generation.faults.seen();
    Json first = Json::array();
    for (std::size_t i = 0; i < std::min(seen.size(), most_faults); ++i) {
        first.push_back({{"shard", shortened(seen[i].shard->path())}, {"what", seen[i].what}});
    }
    return {{"shards", seen.size()}, {"first", std::move(first)}};
}

}  // namespace

std::string stats_text(const Served& served) {
    const std::shared_ptr<const Generation> generation = served.generations.current();
    Json all = served.stats.json();
    all["busiest_tensors"] = busiest(*generation);
    all["faults"] = faults(*generation);
    if (const std::optional<Memory> memory = memory_in_use()) {
        all["memory"] = {{"own", memory->own}, {"mapped", memory->mapped}, {"peak", memory->peak}};
    }
    all["models"] = {{"reloads", served.reloads.load()},
                     {"failed_reloads", served.failed_reloads.load()},
                     {"last_failure", shortened(served.last_failure.get(), 1000)},
                     {"held", served.generations.size()},
                     {"problems", generation->volume.model().problems().size()}};
    all["pid"] = ::getpid();
    return json_text(all);
}

}  // namespace tensorfs
