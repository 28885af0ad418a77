#include "core/exporting/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "core/tensors/convert.hpp"
#include "core/views/views.hpp"

namespace tensorfs {
namespace {

std::uint64_t nbytes_of(const std::vector<FileTensor>& tensors) {
    return std::accumulate(tensors.begin(), tensors.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const FileTensor& tensor) { return sum + tensor.nbytes(); });
}

std::vector<FileTensor> select(const Model& model, const std::vector<std::uint32_t>& tensors,
                               const ExportOptions& options) {
    std::vector<FileTensor> selected;
    selected.reserve(tensors.size());
    for (const std::uint32_t i : tensors) {
        const Tensor& tensor = model.tensors()[i];
        const bool is_converted = options.floats && can_convert(tensor.dtype());
        selected.push_back(is_converted ? FileTensor{&tensor, *options.floats}
                                        : file_tensor(tensor, options.format->floats));
    }
    return selected;
}

std::vector<std::vector<FileTensor>> cut(const std::vector<FileTensor>& tensors, std::uint64_t max_size) {
    std::vector<std::vector<FileTensor>> shards;
    std::vector<FileTensor> shard;
    std::uint64_t size = 0;
    for (const FileTensor& tensor : tensors) {
        const std::uint64_t nbytes = tensor.nbytes();
        if (nbytes > max_size) {
            shards.push_back({tensor});  // before the one that is being filled, and goes on
            continue;
        }
        if (nbytes > max_size - size) {
            shards.push_back(std::exchange(shard, {}));
            size = 0;
        }
        shard.push_back(tensor);
        size += nbytes;
    }
    if (!shard.empty() || shards.empty()) shards.push_back(std::move(shard));
    return shards;
}

/// As Python's json.dumps(index, indent=2, sort_keys=True) writes it.
std::string index_of(const std::vector<PlannedFile>& files, std::uint64_t total_size) {
    nlohmann::json index;
    index["metadata"]["total_size"] = total_size;
    nlohmann::json& map = index["weight_map"];
    std::string storage;
    for (const PlannedFile& file : files) {
        for (const FileTensor& tensor : file.tensors) map[utf8_name(*tensor.tensor, storage)] = file.name;
    }
    return index.dump(2, ' ', true) + "\n";
}

void add(TextMetadata& metadata, const TextMetadata& more) {
    for (const auto& [key, value] : more) {
        const auto found = std::find_if(metadata.begin(), metadata.end(),
                                        [&, &name = key](const auto& entry) { return entry.first == name; });
        if (found == metadata.end()) {
            metadata.emplace_back(key, value);
        } else {
            found->second = value;
        }
    }
}

}  // namespace

std::vector<std::string> ExportPlan::names() const {
    std::vector<std::string> all;
    for (const PlannedFile& file : files) all.push_back(file.name);
    if (!index_name.empty()) all.push_back(index_name);
    return all;
}

ExportPlan plan_export(const Model& model, const std::vector<std::uint32_t>& tensors, const ExportOptions& options) {
    const ExportFormat& format = *options.format;
    std::vector<FileTensor> selected = select(model, tensors, options);
    ExportPlan plan{&format, {}, {}, {}, {}, nbytes_of(selected)};
    if (format.has_metadata) {
        plan.metadata = text_metadata(model, selected);
        add(plan.metadata, options.metadata);
    }
    if (!options.max_shard_size) {
        plan.files.push_back({"", std::move(selected)});
        return plan;
    }
    std::vector<std::vector<FileTensor>> shards = cut(selected, *options.max_shard_size);
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const std::string number = shards.size() == 1 ? "" : fmt::format("-{:05}-of-{:05}", i + 1, shards.size());
        plan.files.push_back({fmt::format("{}{}{}", format.base, number, format.ending), std::move(shards[i])});
    }
    if (shards.size() > 1) {
        plan.index_name = fmt::format("{}{}.index.json", format.base, format.ending);
        plan.index = index_of(plan.files, plan.nbytes);
    }
    return plan;
}

}  // namespace tensorfs
