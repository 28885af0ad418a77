#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

// A second reader of safetensors, for tests to compare with. It shares nothing with core/: good
// files in, plain values out.

namespace tensorfs::tests {

/// A tensor as it lies in its shard.
struct StoredTensor {
    std::string name;
    std::string dtype;
    std::string shape;  // as JSON without spaces, such as "[2,3]"
    std::uint64_t elements = 0;
    std::string shard;         // absolute path
    std::uint64_t offset = 0;  // from the start of the shard
    std::uint64_t nbytes = 0;
};

struct StoredModel {
    std::string source;               // absolute path
    std::vector<std::string> shards;  // absolute paths
    std::vector<StoredTensor> tensors;
    std::map<std::string, std::string> metadata;
};

/// Reads a file, or a folder with a model.safetensors.index.json.
StoredModel read_model(const std::filesystem::path& source);

/// Reads a line of the conformance corpus's verdicts: what the reference implementation saw in a
/// file of `folder`.
StoredModel read_verdict(const std::string& line, const std::filesystem::path& folder);

/// The tensor's bytes, from the shard.
std::string stored_bytes(const StoredTensor& tensor);

/// The tensors by name.
std::map<std::string, StoredTensor> by_name(const StoredModel& model);

}  // namespace tensorfs::tests
