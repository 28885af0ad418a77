#include "core/views/merged.hpp"

#include <fmt/format.h>

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

/// Writes the header's JSON piece by piece: `write(text)`.
template <typename Write>
void write_header(const Model& model, const Write& write) {
    std::string_view separator = "{";
    std::set<std::string> keys;
    for (std::size_t shard = 0; shard < model.shards().size(); ++shard) {
        for (const auto& [key, value] : model.all_metadata(shard)) {
            if (std::holds_alternative<JsonArray>(value) || !keys.insert(key).second) continue;
            write(keys.size() == 1 ? R"({"__metadata__":{)" : ",");
            write(file_string(key));
            write(":");
            write(file_string(to_string(value)));
        }
    }
    if (!keys.empty()) {
        write("}");
        separator = ",";
    }
    std::uint64_t at = 0;
    std::string entry;
    std::string storage;
    for (const Tensor& tensor : model.tensors()) {
        entry = separator;
        entry += file_string(utf8_name(tensor, storage));
        fmt::format_to(std::back_inserter(entry), R"(:{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})",
                       to_string(tensor.dtype()), to_string(tensor.shape()), at, at + tensor.nbytes());
        write(entry);
        at += tensor.nbytes();
        separator = ",";
    }
    write(separator == "{" ? "{}" : "}");
}

std::uint64_t padded(std::uint64_t size) { return (size + alignment - 1) / alignment * alignment; }

}  // namespace

std::uint64_t merged_header_size(const Model& model) {
    std::uint64_t size = 0;
    write_header(model, [&](std::string_view text) { size += text.size(); });
    return padded(size);
}

std::optional<Content> merged_view(const Model& model) {
    const std::uint64_t size = merged_header_size(model);
    if (size > safetensors::max_header_size) return std::nullopt;
    std::string header;
    header.reserve(sizeof size + size);
    append_little_endian(header, size, sizeof size);
    write_header(model, [&](std::string_view text) { header += text; });
    header.resize(sizeof size + size, ' ');

    Content content;
    content.add(std::move(header));
    for (const Tensor& tensor : model.tensors()) content.add(slice_of(tensor));
    return content;
}

}  // namespace tensorfs
