#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/exporting/export_format.hpp"
#include "core/model/model.hpp"
#include "core/views/merged.hpp"
#include "core/views/model_file.hpp"

namespace tensorfs {

/// What is to be written of a model, and how.
struct ExportOptions {
    const ExportFormat* format = export_formats().data();
    std::optional<Dtype> floats;                  // what floats become: can_convert_to() it
    std::optional<std::uint64_t> max_shard_size;  // in bytes of tensors: the target is a folder then
    TextMetadata metadata;                        // besides the source's, and instead of what that says
};

/// A file that is to be written.
struct PlannedFile {
    std::string name;  // in the target's folder; "" where it is the target itself
    std::vector<FileTensor> tensors;
};

/// Which files are to be written.
struct ExportPlan {
    const ExportFormat* format;
    std::vector<PlannedFile> files;
    TextMetadata metadata;
    std::string index_name;  // "" where there is none
    std::string index;       // its text
    std::uint64_t nbytes;    // of all tensors

    [[nodiscard]] bool is_folder() const { return !files.front().name.empty(); }
    /// Of all files, the index last.
    [[nodiscard]] std::vector<std::string> names() const;
};

/// Plans to write the tensors at these positions of Model::tensors(), which are sorted.
///
/// Shards are cut, named and indexed as huggingface_hub does (split_state_dict_into_shards_factory): a shard takes
/// tensors in data order as long as they fit; one that is larger than a shard has one of its own; the index has
/// "metadata" with "total_size", the bytes of all tensors, and "weight_map", a file for each name. If one shard does,
/// it has no number, and there is no index. All have all metadata.
///
/// REQUIRES: there are as many tensors; the model stays where it is; the format has a base if there are shards.
/// Throws Error.
ExportPlan plan_export(const Model& model, const std::vector<std::uint32_t>& tensors, const ExportOptions& options);

}  // namespace tensorfs
