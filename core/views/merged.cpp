#include "core/views/merged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/little_endian.hpp"
#include "core/formats/safetensors/safetensors.hpp"
#include "core/tensors/widen.hpp"
#include "core/views/listings.hpp"
#include "core/views/views.hpp"

namespace tensorfs {
namespace {

constexpr std::uint64_t alignment = 8;  // as the reference's writer pads the header
constexpr std::string_view quantised_key = "tensorfs.quantised";

/// A JSON string as the reference writes it: UTF-8, in which names take the room that they took.
std::string file_string(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A tensor as the file has it.
struct Merged {
    Dtype dtype;
    std::uint64_t nbytes;
    bool is_widened;

    Merged(const Tensor& tensor, Floats floats)
        : dtype(tensor.dtype()),
          nbytes(tensor.nbytes()),
          is_widened(floats == Floats::widened && can_widen(tensor.dtype())) {
        if (is_widened) {
            dtype = Dtype::F32;
            nbytes = tensor.elements() * sizeof(float);
        } else if (is_quantised(dtype)) {
            dtype = Dtype::U8;
        }
    }

    /// What its place must be a multiple of for its elements to be read in place.
    [[nodiscard]] std::uint64_t element() const { return is_packed(dtype) ? 1 : block_of(dtype).nbytes; }
};

/// The tensors in the order of the file, as positions in Model::tensors().
std::vector<std::uint32_t> order_of(const Model& model, Floats floats) {
    const std::vector<Tensor>& tensors = model.tensors();
    std::vector<std::uint32_t> order(tensors.size());
    std::iota(order.begin(), order.end(), 0U);
    std::uint64_t at = 0;  // the data begins at a multiple of 8, as wide as any element
    const bool is_aligned = std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& tensor) {
        const Merged merged(tensor, floats);
        const bool is_in_place = at % merged.element() == 0;
        at += merged.nbytes;
        return is_in_place;
    });
    if (is_aligned) return order;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return Merged(tensors[a], floats).element() > Merged(tensors[b], floats).element();
    });
    return order;
}

/// Writes the metadata piece by piece: `write(text)`; whether there are any.
template <typename Write>
bool write_metadata(const Model& model, Floats floats, const Write& write) {
    std::set<std::string> keys;
    const auto add = [&](const std::string& key, std::string_view value) {
        if (!keys.insert(key).second) return;
        write(keys.size() == 1 ? R"({"__metadata__":{)" : ",");
        write(file_string(key));
        write(":");
        write(file_string(value));
    };
    if (floats == Floats::as_stored) {
        if (const std::string types = quantised_types(model); !types.empty()) add(std::string(quantised_key), types);
    }
    for (std::size_t shard = 0; shard < model.shards().size(); ++shard) {
        for (const auto& [key, value] : model.read_metadata(shard, Keep::texts)) {
            if (!std::holds_alternative<NotKept>(value)) add(key, to_string(value));
        }
    }
    if (!keys.empty()) write("}");
    return !keys.empty();
}

/// Writes the header's JSON piece by piece: `write(text)`.
template <typename Write>
void write_header(const Model& model, Floats floats, const std::vector<std::uint32_t>& order, const Write& write) {
    std::string_view separator = write_metadata(model, floats, write) ? "," : "{";
    std::uint64_t at = 0;
    std::string entry;
    std::string storage;
    for (const std::uint32_t i : order) {
        const Tensor& tensor = model.tensors()[i];
        const Merged merged(tensor, floats);
        entry = separator;
        entry += file_string(utf8_name(tensor, storage));
        fmt::format_to(std::back_inserter(entry), R"(:{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})",
                       to_string(merged.dtype),
                       to_string(is_quantised(tensor.dtype()) && !merged.is_widened ? Shape(stored_shape(tensor))
                                                                                    : tensor.shape()),
                       at, at + merged.nbytes);
        write(entry);
        at += merged.nbytes;
        separator = ",";
    }
    write(separator == "{" ? "{}" : "}");
}

std::uint64_t padded(std::uint64_t size) { return (size + alignment - 1) / alignment * alignment; }

std::uint64_t header_size(const Model& model, Floats floats, const std::vector<std::uint32_t>& order) {
    std::uint64_t size = 0;
    write_header(model, floats, order, [&](std::string_view text) { size += text.size(); });
    return padded(size);
}

}  // namespace

std::uint64_t merged_header_size(const Model& model, Floats floats) {
    return header_size(model, floats, order_of(model, floats));
}

std::optional<Content> merged_view(const Model& model, Floats floats) {
    const std::vector<std::uint32_t> order = order_of(model, floats);
    const std::uint64_t size = header_size(model, floats, order);
    if (size > safetensors::max_header_size) return std::nullopt;
    std::string header;
    header.reserve(sizeof size + size);
    append_little_endian(header, size, sizeof size);
    write_header(model, floats, order, [&](std::string_view text) { header += text; });
    header.resize(sizeof size + size, ' ');

    Content content;
    content.add(std::move(header));
    for (const std::uint32_t i : order) {
        const Tensor& tensor = model.tensors()[i];
        if (Merged(tensor, floats).is_widened) {
            content.add_widened(tensor);
        } else {
            content.add(tensor);
        }
    }
    return content;
}

}  // namespace tensorfs
