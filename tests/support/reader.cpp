#include "tests/support/reader.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace tensorfs::tests {
namespace {

StoredTensor tensor_from(const std::string& name, const nlohmann::json& entry, const std::string& shard) {
    StoredTensor tensor{name, entry["dtype"], entry["shape"].dump(), 1, shard, 0, 0};
    for (const auto& dim : entry["shape"]) tensor.elements *= dim.get<std::uint64_t>();
    return tensor;
}

void read_shard(const std::filesystem::path& path, StoredModel& model) {
    std::ifstream in(path, std::ios::binary);
    std::uint64_t length = 0;  // this is right on little-endian machines only, as is the data
    in.read(reinterpret_cast<char*>(&length), 8);
    std::string text(length, '\0');
    in.read(text.data(), static_cast<std::streamsize>(length));
    if (!in) throw std::runtime_error("cannot read " + path.string());

    model.shards.push_back(path.string());
    const nlohmann::json header = nlohmann::json::parse(text);
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__") {
            for (const auto& [key, value] : entry.items()) model.metadata.emplace(key, value);
            continue;
        }
        StoredTensor tensor = tensor_from(name, entry, path.string());
        tensor.offset = 8 + length + entry["data_offsets"][0].get<std::uint64_t>();
        tensor.nbytes = entry["data_offsets"][1].get<std::uint64_t>() - entry["data_offsets"][0].get<std::uint64_t>();
        model.tensors.push_back(tensor);
    }
}

}  // namespace

StoredModel read_model(const std::filesystem::path& source) {
    StoredModel model;
    model.source = std::filesystem::absolute(source).string();
    if (!std::filesystem::is_directory(source)) {
        read_shard(model.source, model);
        return model;
    }
    std::ifstream in(source / "model.safetensors.index.json");
    const nlohmann::json index = nlohmann::json::parse(in);
    std::set<std::string> shards;
    for (const auto& [name, shard] : index["weight_map"].items()) shards.insert(shard);
    for (const std::string& shard : shards) read_shard(std::filesystem::absolute(source) / shard, model);
    return model;
}

StoredModel read_verdict(const std::string& line, const std::filesystem::path& folder) {
    const nlohmann::json verdict = nlohmann::json::parse(line);
    const std::string path = std::filesystem::absolute(folder / verdict["file"].get<std::string>()).string();
    StoredModel model;
    model.source = path;
    model.shards = {path};
    for (const auto& entry : verdict["tensors"]) {
        StoredTensor tensor = tensor_from(entry["name"], entry, path);
        tensor.offset = entry["begin"];
        tensor.nbytes = entry["end"].get<std::uint64_t>() - tensor.offset;
        model.tensors.push_back(tensor);
    }
    for (const auto& [key, value] : verdict["metadata"].items()) model.metadata[key] = value;
    return model;
}

std::string stored_bytes(const StoredTensor& tensor) {
    std::ifstream in(tensor.shard, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(tensor.offset));
    std::string bytes(tensor.nbytes, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!in) throw std::runtime_error("cannot read " + tensor.shard);
    return bytes;
}

std::map<std::string, StoredTensor> by_name(const StoredModel& model) {
    std::map<std::string, StoredTensor> all;
    for (const StoredTensor& tensor : model.tensors) all[tensor.name] = tensor;
    return all;
}

}  // namespace tensorfs::tests
