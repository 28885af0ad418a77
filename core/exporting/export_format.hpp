#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/views/merged.hpp"
#include "core/views/model_file.hpp"

namespace tensorfs {

/// A kind of file that a model can be written as. A new one is a function and a row.
struct ExportFormat {
    std::string_view name;
    /// Makes a file of tensors; nothing where its header would be larger than the format allows. `path` is for
    /// messages. Throws Error.
    std::optional<ModelFile> (*make)(std::span<const FileTensor> tensors, const TextMetadata& metadata,
                                     const ChecksumOf& checksum_of, const std::string& path);
    Floats floats;  // as they stand in it, unless a type is asked for
    bool has_metadata;
    bool has_checksums;     // of all that it holds
    std::string_view base;  // of files in a folder: BASE + ENDING, or BASE-00001-of-00003 + ENDING; "" for a single
    std::string_view ending;
};

/// All of them; the first is what is meant unless one is named.
std::span<const ExportFormat> export_formats();

/// The one of that name; null where there is none.
const ExportFormat* export_format(std::string_view name);

}  // namespace tensorfs
