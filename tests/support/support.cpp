#include "tests/support/support.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

namespace tensorfs::tests {

TemporaryFolder::TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tensorfs-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;  // what is left then is in the temporary folder, and no test's fault
    std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot open " + path.string());
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (in.bad()) throw std::runtime_error("cannot read " + path.string());
    return bytes;
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) throw std::runtime_error("cannot write " + path.string());
}

std::string safetensors_file(std::string_view header, std::string_view data) {
    std::string file;
    for (unsigned shift = 0; shift < 64; shift += 8) file += static_cast<char>(std::uint64_t{header.size()} >> shift);
    file += header;
    return file += data;
}

std::string safetensors_file(const std::vector<Sample>& samples, std::string_view metadata) {
    std::string header = "{";
    std::string data;
    if (!metadata.empty()) header += "\"__metadata__\":" + std::string(metadata);
    for (const Sample& sample : samples) {
        if (header.size() > 1) header += ',';
        const nlohmann::json entry{{"dtype", sample.dtype},
                                   {"shape", sample.shape},
                                   {"data_offsets", {data.size(), data.size() + sample.bytes.size()}}};
        header += nlohmann::json(sample.name).dump() + ':' + entry.dump();
        data += sample.bytes;
    }
    return safetensors_file(header + '}', data);
}

std::string sample_bytes(std::size_t size, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
}

std::string index_file(const std::vector<std::pair<std::string, std::string>>& weight_map) {
    nlohmann::ordered_json map = nlohmann::ordered_json::object();
    for (const auto& [tensor, shard] : weight_map) map[tensor] = shard;
    return nlohmann::ordered_json{{"metadata", nlohmann::json::object()}, {"weight_map", map}}.dump();
}

std::optional<std::filesystem::path> test_data(std::string_view name) {
    const char* const set = std::getenv("TENSORFS_TEST_DATA");
    const std::filesystem::path path = std::filesystem::path(set != nullptr ? set : TENSORFS_TEST_DATA) / name;
    if (!std::filesystem::is_directory(path)) return std::nullopt;
    return path;
}

}  // namespace tensorfs::tests
