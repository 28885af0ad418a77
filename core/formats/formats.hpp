#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/file_names.hpp"
#include "core/formats/header.hpp"
#include "core/formats/part.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs {

/// A file format that models come in: a row of the table that everything else takes what it knows of formats
/// from. A new one is a folder beside formats/safetensors, a row in formats.cpp, tests and documentation.
struct Format {
    std::string_view name;  // as users see it: user.model.format
    FileNames files;

    /// Whether a file is of this format, by its first bytes (up to 64, fewer of a shorter file) and, where these
    /// do not tell, by what it holds. Null for the one that a file is taken for if it is of no other. Throws Error.
    bool (*is_content)(std::string_view beginning, const Shard& shard);

    /// Reads and validates the header of a file. Throws Error; see the format's own header for its rules.
    Header (*read_header)(const Shard& shard, const HeaderOptions& options);

    /// Reads the metadata once more, to have what is wanted of them. Throws Error.
    Metadata (*read_metadata)(const Shard& shard, Keep wanted);

    /// What is wrong with files of this format as parts of one model, where each by itself is good; null where nothing
    /// can be. `is_whole` says that no file of the model, and no tensor of a file, was left out as it is bad.
    std::vector<Problem> (*check_parts)(std::span<const Part> parts, bool is_whole) = nullptr;
    /// Whether a file can hold several models or parts of one, of which HeaderOptions::key takes one.
    bool has_keys = false;
};

/// All formats, in the order in which a folder that holds several is taken for one of them.
std::span<const Format> formats();

/// The format of a file: by its suffix where that is .safetensors, since the reference implementation reads nothing
/// else from such a file; by its content otherwise, whatever it is called; by its suffix again where its content tells
/// nothing, so that a file that was cut short is refused for that. Throws Error.
const Format& format_of(const Shard& shard);

/// The format whose files have such a name; null where none has. The view of a name's suffix tells nothing of
/// what the file holds.
const Format* format_named(std::string_view file_name);

/// The suffixes of the formats' files, as messages list them: ".safetensors, .gguf".
std::string suffixes_of(std::span<const Format> formats);

}  // namespace tensorfs
