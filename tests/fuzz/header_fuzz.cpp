#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "core/formats/safetensors/safetensors.hpp"
#include "tests/fuzz/require.hpp"

// An input is eight bytes, the size of the data, little-endian, and the text of a header.

using namespace tensorfs;
using namespace tensorfs::fuzz;

namespace {

void check_tensor(const Tensor& tensor, std::string_view prefix) {
    require(is_utf8(tensor.name()), "a name is UTF-8");
    require(tensor.full_name() == std::string(prefix) + std::string(tensor.name()), "a full name is prefix and name");
    unsigned __int128 elements = 1;
    for (const std::uint64_t dimension : tensor.shape()) {
        elements *= dimension;
        require(elements <= UINT64_MAX, "the product of a shape fits 64 bits");
    }
    require(tensor.elements() == elements, "elements are the product of the shape");
    require(elements * block_of(tensor.dtype()).nbytes ==
                static_cast<unsigned __int128>(tensor.nbytes()) * block_of(tensor.dtype()).elements,
            "shape and dtype need the bytes that the offsets give");
}

void check_header(const Header& header, std::string_view text, std::uint64_t file_size, std::string_view prefix) {
    std::uint64_t end = 8 + text.size();
    std::set<std::string_view> names;
    for (const Tensor& tensor : header.tensors) {
        check_tensor(tensor, prefix);
        require(tensor.offset() == end, "a tensor begins where the one before it ends");
        require(tensor.nbytes() <= file_size - end, "a tensor ends in the file");
        end += tensor.nbytes();
        require(names.insert(tensor.name()).second, "no name stands twice");
    }
    require(end == file_size, "the last tensor ends where the file ends");
    std::set<std::string_view> keys;
    for (const auto& [key, value] : header.metadata) {
        require(keys.insert(key).second, "a key of the metadata stands once");
        require(is_utf8(key), "a key of the metadata is UTF-8");
        if (std::holds_alternative<NotKept>(value)) continue;
        const auto* kept = std::get_if<std::string>(&value);
        require(kept != nullptr, "a value of the metadata is a text");
        require(is_utf8(*kept) && kept->size() <= longest_kept_text, "a text that is kept is UTF-8, and short");
    }
    // Another reader of JSON, which is no stricter than the reference is.
    require(nlohmann::json::accept(text), "a header is JSON");
}

/// The kind that the header is refused with; nothing where it is accepted.
std::optional<Kind> verdict(std::string_view text, std::uint64_t file_size, std::string_view prefix) {
    try {
        const Header header = safetensors::parse_header(json::Text(text), file_size, "fuzz.safetensors", {prefix});
        check_header(header, text, file_size, prefix);
        return std::nullopt;
    } catch (const Error& e) {
        require_printable(e);
        return e.problems().front().kind;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 8) return 0;
    std::uint64_t data_size = 0;
    for (std::size_t i = 8; i-- > 0;) data_size = data_size << 8 | data[i];
    const std::string_view text(reinterpret_cast<const char*>(data) + 8, size - 8);
    const std::uint64_t file_size = 8 + text.size() + std::min(data_size, UINT64_MAX / 2);
    require(verdict(text, file_size, "") == verdict(text, file_size, "text_encoder.2/"), "a prefix changes no verdict");
    return 0;
}
