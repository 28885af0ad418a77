#include "core/views/merged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "core/base/little_endian.hpp"
#include "core/formats/safetensors/safetensors.hpp"
#include "core/views/listings.hpp"
#include "core/views/views.hpp"

namespace tensorfs {
namespace {

constexpr std::uint64_t alignment = 8;  // as the reference's writer pads the header

/// A JSON string as the reference writes it: UTF-8, in which names take the room that they took.
std::string file_string(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// What a tensor's place must be a multiple of for its elements to be read in place.
std::uint64_t element_of(const FileTensor& tensor) {
    return is_packed(tensor.dtype) ? 1 : block_of(tensor.dtype).nbytes;
}

std::string name_of(const FileTensor& tensor) {
    std::string storage;
    return std::string(utf8_name(*tensor.tensor, storage));
}

/// Puts the tensors into the order of the file.
void sort(std::vector<FileTensor>& tensors) {
    std::uint64_t at = 0;  // the data begins at a multiple of 8, as wide as any element
    const bool is_aligned = std::all_of(tensors.begin(), tensors.end(), [&](const FileTensor& tensor) {
        const bool is_in_place = at % element_of(tensor) == 0;
        at += tensor.nbytes();
        return is_in_place;
    });
    if (!is_aligned) {
        std::stable_sort(tensors.begin(), tensors.end(),
                         [](const FileTensor& a, const FileTensor& b) { return element_of(a) > element_of(b); });
    }
    const auto is_empty = [](const FileTensor& tensor) { return tensor.tensor->nbytes() == 0; };
    for (auto begin = tensors.begin(); (begin = std::find_if(begin, tensors.end(), is_empty)) != tensors.end();) {
        const auto end = std::find_if_not(begin, tensors.end(), is_empty);
        std::sort(begin, end, [](const FileTensor& a, const FileTensor& b) { return name_of(a) < name_of(b); });
        begin = end;
    }
}

/// Writes the metadata piece by piece: `write(text)`.
template <typename Write>
void write_metadata(const TextMetadata& metadata, const Write& write) {
    std::string_view separator = R"({"__metadata__":{)";
    for (const auto& [key, value] : metadata) {
        write(separator);
        write(file_string(key));
        write(":");
        write(file_string(value));
        separator = ",";
    }
    if (!metadata.empty()) write("}");
}

/// Writes the header's JSON piece by piece: `write(text)`.
template <typename Write>
void write_header(const std::vector<FileTensor>& tensors, const TextMetadata& metadata, const Write& write) {
    write_metadata(metadata, write);
    std::string_view separator = metadata.empty() ? "{" : ",";
    std::uint64_t at = 0;
    std::string entry;
    std::string storage;
    for (const FileTensor& tensor : tensors) {
        const bool is_bytes = is_quantised(tensor.dtype);
        entry = separator;
        entry += file_string(utf8_name(*tensor.tensor, storage));
        fmt::format_to(std::back_inserter(entry), R"(:{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})",
                       to_string(is_bytes ? Dtype::U8 : tensor.dtype),
                       to_string(is_bytes ? Shape(stored_shape(*tensor.tensor)) : tensor.tensor->shape()), at,
                       at + tensor.nbytes());
        write(entry);
        at += tensor.nbytes();
        separator = ",";
    }
    write(separator == "{" ? "{}" : "}");
}

std::uint64_t padded(std::uint64_t size) { return (size + alignment - 1) / alignment * alignment; }

std::uint64_t header_size(const std::vector<FileTensor>& tensors, const TextMetadata& metadata) {
    std::uint64_t size = 0;
    write_header(tensors, metadata, [&](std::string_view text) { size += text.size(); });
    return padded(size);
}

}  // namespace

TextMetadata text_metadata(const Model& model, std::span<const FileTensor> tensors) {
    TextMetadata all;
    std::set<std::string> keys;
    const auto add = [&](const std::string& key, std::string value) {
        if (keys.insert(key).second) all.emplace_back(key, std::move(value));
    };
    if (std::string types = quantised_types(tensors); !types.empty()) add(std::string(quantised_key), std::move(types));
    for (std::size_t shard = 0; shard < model.shards().size(); ++shard) {
        for (const auto& [key, value] : model.read_metadata(shard, Keep::texts)) {
            if (!std::holds_alternative<NotKept>(value)) add(key, to_string(value));
        }
    }
    return all;
}

std::optional<ModelFile> merged_file(std::vector<FileTensor> tensors, const TextMetadata& metadata) {
    sort(tensors);
    const std::uint64_t size = header_size(tensors, metadata);
    if (size > safetensors::max_header_size) return std::nullopt;
    std::string header;
    header.reserve(sizeof size + size);
    append_little_endian(header, size, sizeof size);
    write_header(tensors, metadata, [&](std::string_view text) { header += text; });
    header.resize(sizeof size + size, ' ');

    ModelFile file;
    file.content.add(std::move(header));
    file.places.reserve(tensors.size());
    for (const FileTensor& tensor : tensors) file.add(tensor);
    return file;
}

std::optional<Content> merged_view(const Model& model, Floats floats) {
    std::vector<FileTensor> tensors = file_tensors(model, floats);
    const TextMetadata metadata = text_metadata(model, tensors);
    std::optional<ModelFile> file = merged_file(std::move(tensors), metadata);
    if (!file) return std::nullopt;
    return std::move(file->content);
}

std::uint64_t merged_header_size(const Model& model, Floats floats) {
    std::vector<FileTensor> tensors = file_tensors(model, floats);
    sort(tensors);
    return header_size(tensors, text_metadata(model, tensors));
}

}  // namespace tensorfs
