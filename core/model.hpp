#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/safetensors.hpp"
#include "core/shard.hpp"
#include "core/source.hpp"
#include "core/tensor.hpp"

namespace tensorfs {

/// A loaded model: its shards, open, and its tensors, validated. Immutable once loaded, so any
/// number of threads may read it. Movable; what its tensors view moves along.
class Model {
public:
    /// Reads the headers of the source's shards, in parallel, and brings them together. An index
    /// decides which tensors there are: tensors that it does not list, or lists in another shard,
    /// are left out. Throws Error with everything that is wrong: what Shard and read_header throw,
    /// MissingTensor, or DuplicateName where two shards have a name and no index decides.
    static Model load(Source source);

    [[nodiscard]] const Source& source() const { return source_; }
    /// Those of source().shards, in that order.
    [[nodiscard]] const std::vector<Shard>& shards() const { return shards_; }
    /// A shard's name in the source, such as "model-00001-of-00002.safetensors".
    [[nodiscard]] const std::string& shard_name(std::size_t shard) const { return source_.shards[shard]; }
    /// The absolute path of the shard that holds a tensor.
    [[nodiscard]] std::string shard_path(const Tensor& tensor) const {
        return source_.absolute_shard_path(shard_name(tensor.shard()));
    }
    /// Each shard's `__metadata__`, in the order of shards().
    [[nodiscard]] const std::vector<Metadata>& metadata() const { return metadata_; }
    /// By shard, and in data order within one.
    [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
    /// Positions in tensors(), in byte order of the names. No name stands twice.
    [[nodiscard]] const std::vector<std::uint32_t>& by_name() const { return by_name_; }

    /// Elements of all tensors.
    [[nodiscard]] std::uint64_t parameters() const;
    /// Bytes of all tensors.
    [[nodiscard]] std::uint64_t nbytes() const;
    /// What deserves a word but is no fault: tensors that the index leaves out, a total_size that
    /// is not the sum. A sentence each.
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

    /// Maps the shards, so that their bytes can be served. Throws Error.
    void map();

private:
    friend class ModelLoader;

    Source source_;
    std::vector<Shard> shards_;
    std::vector<Metadata> metadata_;
    std::vector<Header> storage_;  // behind the tensors' names and shapes; their own lists are empty
    std::vector<Tensor> tensors_;
    std::vector<std::uint32_t> by_name_;
    std::vector<std::string> notes_;
};

}  // namespace tensorfs
