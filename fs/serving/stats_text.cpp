#include "fs/serving/stats_text.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/escape.hpp"
#include "core/base/json_text.hpp"
#include "fs/serving/served.hpp"
#include "fs/statistics/memory.hpp"

namespace tensorfs {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_tensors = 10;
constexpr std::size_t most_faults = 10;

/// A text of at most so many bytes: an attribute holds 64 KiB, and a tensor's name can be longer than that.
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

std::string StatsText::make(const Served& from) {
    const std::shared_ptr<const Generation> generation = from.generations.current();
    Json all = from.stats.json();
    all["busiest_tensors"] = busiest(*generation);
    all["faults"] = faults(*generation);
    if (const std::optional<Memory> memory = memory_in_use()) {
        all["memory"] = {{"own", memory->own}, {"mapped", memory->mapped}, {"peak", memory->peak}};
    }
    all["models"] = {{"reloads", from.reloads.load()},
                     {"failed_reloads", from.failed_reloads.load()},
                     {"last_failure", shortened(from.last_failure.get(), 1000)},
                     {"held", from.generations.size()},
                     {"problems", generation->volume.model().problems().size()}};
    all["pid"] = ::getpid();
    return json_text(all);
}

std::string StatsText::to_fit(const Served& from, std::size_t size) const {
    std::string now = make(from);
    const std::lock_guard lock(mutex_);
    if (size == 0) {
        measured_ = now;
    } else if (now.size() > size && !measured_.empty() && measured_.size() <= size) {
        return measured_;
    }
    return now;
}

}  // namespace tensorfs
