#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tensorfs::tests {

/// A new folder below the system's temporary one, removed with all in it at the end.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// The path of `name` in it, as text.
    [[nodiscard]] std::string operator/(std::string_view name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

/// A file's bytes. Throws std::runtime_error.
std::string read_file(const std::filesystem::path& path);
/// Writes a file, with the folders above it. Throws std::runtime_error.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// A safetensors file as bytes: length, header, data.
std::string safetensors_file(std::string_view header, std::string_view data);

/// A tensor to be written.
struct Sample {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::string bytes;
};

/// A safetensors file that holds the samples in this order, with `metadata` ("" or a JSON object).
std::string safetensors_file(const std::vector<Sample>& samples, std::string_view metadata = "");

/// `size` bytes that depend on `seed` and repeat nowhere soon.
std::string sample_bytes(std::size_t size, std::uint64_t seed);

/// An index file that places each tensor in a shard.
std::string index_file(const std::vector<std::pair<std::string, std::string>>& weight_map);

/// A folder of the test data that is kept outside the project ("conformance" or "real"): below the
/// environment variable TENSORFS_TEST_DATA, or what CMake was told. Nothing where it is absent.
std::optional<std::filesystem::path> test_data(std::string_view name);

}  // namespace tensorfs::tests
