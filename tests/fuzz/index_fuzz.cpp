#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "core/sources/index.hpp"
#include "tests/fuzz/require.hpp"

// An input is the text of an index.

using namespace tensorfs;
using namespace tensorfs::fuzz;

namespace {

void check_index(const Index& index, std::string_view text) {
    for (std::size_t i = 0; i < index.shards().size(); ++i) {
        const std::string& shard = index.shards()[i];
        require(i == 0 || index.shards()[i - 1] < shard, "shards stand in order, each once");
        require(is_utf8(shard), "a shard's path is UTF-8");
        require(shard_path_problem(shard).empty() && shard.ends_with(".safetensors"), "a shard may be named so");
        require(shard[0] != '/' && shard.find('\0') == std::string::npos, "a shard's path is relative, and text");
        require(('/' + shard + '/').find("/../") == std::string::npos, "a shard lies in the index's folder");
    }
    std::vector<bool> is_used(index.shards().size());
    for (std::size_t i = 0; i < index.entries().size(); ++i) {
        const Index::Entry& entry = index.entries()[i];
        require(is_utf8(index.name(entry)), "a name is UTF-8");
        require(i == 0 || index.name(index.entries()[i - 1]) < index.name(entry), "names stand in order, each once");
        is_used.at(entry.shard) = true;
    }
    for (const bool used : is_used) require(used, "every shard holds a tensor");

    // Another reader of JSON, which is no stricter than the reference is.
    const auto json = nlohmann::json::parse(text, nullptr, false);
    require(json.is_object(), "an index is a JSON object");
    const auto& map = json.at("weight_map");
    require(map.size() == index.entries().size(), "every tensor of the map is in the index");
    for (const Index::Entry& entry : index.entries()) {
        require(map.at(std::string(index.name(entry))) == index.shards()[entry.shard],
                "a tensor is where the map says");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const std::string name = "model.safetensors.index.json";
        check_index(Index::parse(text, name, index_formats(name, formats())), text);
    } catch (const Error& e) {
        require_printable(e);
    }
    return 0;
}
