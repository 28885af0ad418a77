#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/formats/formats.hpp"
#include "core/formats/metadata.hpp"
#include "core/sources/source.hpp"
#include "core/tensors/shard.hpp"
#include "core/tensors/tensor.hpp"

namespace tensorfs {

/// What to do with a source of which a part is bad.
enum class OnProblem {
    refuse,    // throw everything that is wrong
    leave_out  // load what is good, and keep a list of the rest
};

/// A loaded model: its shards, open, and its tensors, validated. Immutable once loaded, so any
/// number of threads may read it. Movable; what its tensors view moves along.
class Model {
public:
    /// Reads the headers of the source's shards, in parallel, and brings them together. An index
    /// decides which tensors there are: tensors that it does not list, or lists in another shard,
    /// are left out. Throws Error with everything that is wrong: what Shard and the format's read_header throw,
    /// what the format's check_parts says, MissingTensor, or DuplicateName where two shards have a name and no index
    /// decides. With leave_out, it throws only where no shard is good; of a name in two shards, the first counts.
    static Model load(Source source, OnProblem on_problem = OnProblem::refuse);

    /// The source as the user gave it.
    [[nodiscard]] const std::string& path() const { return path_; }
    /// The file or folder that it led to, from the root.
    [[nodiscard]] const std::string& location() const { return location_; }

    /// Those that are good, by component and in the order of its shards.
    [[nodiscard]] const std::vector<Shard>& shards() const { return shards_; }
    /// A shard's name in the source, such as "unet/diffusion_pytorch_model.safetensors".
    [[nodiscard]] const std::string& shard_name(std::size_t shard) const { return shard_names_[shard]; }
    /// The path, from the root, of the shard that holds a tensor.
    [[nodiscard]] const std::string& shard_path(const Tensor& tensor) const { return shard_paths_[tensor.shard()]; }
    /// The format of a shard.
    [[nodiscard]] const Format& format(std::size_t shard) const { return *formats_[shard]; }
    /// The names of the shards' formats, each once, with commas between: almost always one.
    [[nodiscard]] std::string format_names() const;
    /// Each shard's metadata, in the order of shards(), without what is too large to be kept.
    [[nodiscard]] const std::vector<Metadata>& metadata() const { return metadata_; }
    /// One shard's metadata with what is wanted of them: read again where that was not kept. Throws Error.
    [[nodiscard]] Metadata read_metadata(std::size_t shard, Keep wanted) const;

    /// By shard, and in data order within one.
    [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
    /// Positions in tensors(), in byte order of the full names. No full name stands twice.
    [[nodiscard]] const std::vector<std::uint32_t>& by_name() const { return by_name_; }
    /// The tensor of that full name, if there is one.
    [[nodiscard]] const Tensor* find(std::string_view full_name) const;
    /// Elements of all tensors.
    [[nodiscard]] std::uint64_t parameters() const;
    /// Bytes of all tensors.
    [[nodiscard]] std::uint64_t nbytes() const;

    /// What deserves a word but is no fault: what a rule passed over, tensors that the index leaves
    /// out, a total_size that is not the sum. A sentence each.
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
    /// Something that a loader which runs what a checkpoint asks for would call: none of it is called here.
    struct Call {
        std::size_t shard;
        std::string name;  // such as "os.system"
    };
    /// Of what PyTorch's weights_only does not allow, each once for each shard.
    [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
    /// What was left out because it is bad; empty unless loaded with leave_out.
    [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

    /// Whether both are the same tensors in the same files, found and named in the same way, with the same
    /// left out: what is served of one could be served of the other.
    [[nodiscard]] bool is_same_as(const Model& other) const;

    /// Maps the shards, so that their bytes can be served. Throws Error.
    void map();

private:
    friend class ModelLoader;

    std::string path_;
    std::string location_;
    std::vector<Shard> shards_;
    std::vector<std::string> shard_names_;
    std::vector<std::string> shard_paths_;
    std::vector<const Format*> formats_;  // of the shards
    std::vector<Metadata> metadata_;
    std::vector<char> names_;          // what the tensors' names are views of
    std::vector<std::uint64_t> dims_;  // what their shapes are views of
    std::vector<Tensor> tensors_;
    std::vector<std::uint32_t> by_name_;
    std::vector<std::string> notes_;
    std::vector<Problem> problems_;
    std::vector<Call> calls_;
};

}  // namespace tensorfs
