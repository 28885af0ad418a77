#include "core/exporting/export_format.hpp"

#include <algorithm>
#include <array>

#include "core/views/npz.hpp"
#include "core/views/pytorch.hpp"

namespace tensorfs {
namespace {

std::optional<ModelFile> make_safetensors(std::span<const FileTensor> tensors, const TextMetadata& metadata,
                                          const ChecksumOf&, const std::string&) {
    return merged_file({tensors.begin(), tensors.end()}, metadata);
}

std::optional<ModelFile> make_pytorch(std::span<const FileTensor> tensors, const TextMetadata&,
                                      const ChecksumOf& checksum_of, const std::string&) {
    return pytorch_file(tensors, checksum_of);
}

std::optional<ModelFile> make_npz(std::span<const FileTensor> tensors, const TextMetadata&,
                                  const ChecksumOf& checksum_of, const std::string& path) {
    return npz_file(tensors, checksum_of, path);
}

// Shards are named as huggingface_hub names them (serialization/_base.py, and constants.py).
constexpr std::array all{
    ExportFormat{"safetensors", make_safetensors, Floats::as_stored, true, false, "model", ".safetensors"},
    ExportFormat{"safetensors-f32", make_safetensors, Floats::widened, true, false, "model", ".safetensors"},
    ExportFormat{"pytorch", make_pytorch, Floats::as_stored, false, true, "pytorch_model", ".bin"},
    ExportFormat{"npz", make_npz, Floats::as_stored, false, true, "", ".npz"},
};

}  // namespace

std::span<const ExportFormat> export_formats() { return all; }

const ExportFormat* export_format(std::string_view name) {
    const auto* const found = std::find_if(all.begin(), all.end(), [&](const auto& row) { return row.name == name; });
    return found == all.end() ? nullptr : found;
}

}  // namespace tensorfs
