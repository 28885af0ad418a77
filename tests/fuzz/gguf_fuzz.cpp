#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "core/formats/gguf/gguf.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/require.hpp"

// An input is a GGUF file.

using namespace tensorfs;
using namespace tensorfs::fuzz;

namespace {

void check_tensor(const Tensor& tensor, std::string_view prefix) {
    require(is_utf8(tensor.name()), "a name is UTF-8");
    require(tensor.full_name() == std::string(prefix) + std::string(tensor.name()), "a full name is prefix and name");
    require(tensor.shape().size() <= 8, "a tensor has at most 8 dims");
    unsigned __int128 elements = 1;
    for (const std::uint64_t dimension : tensor.shape()) {
        elements *= dimension;
        require(elements <= UINT64_MAX, "the product of a shape fits 64 bits");
    }
    require(elements * block_of(tensor.dtype()).nbytes ==
                static_cast<unsigned __int128>(tensor.nbytes()) * block_of(tensor.dtype()).elements,
            "a tensor has as many bytes as its shape and type need");
}

void check_header(const Header& header, std::uint64_t file_size, std::string_view prefix) {
    std::uint64_t end = 24;
    std::set<std::string_view> names;
    for (const Tensor& tensor : header.tensors) {
        check_tensor(tensor, prefix);
        require(tensor.offset() <= file_size && tensor.nbytes() <= file_size - tensor.offset(),
                "a tensor lies in the file");
        require(names.insert(tensor.name()).second, "no name stands twice");
        if (tensor.nbytes() == 0) continue;
        require(tensor.offset() >= end, "tensors are in data order and share no byte");
        end = tensor.offset() + tensor.nbytes();
    }
    require(header.by_name.size() == header.tensors.size(), "each tensor is found by its name");
    require(header.notes.size() <= 1, "there is one note at most");
    std::set<std::string_view> keys;
    for (const auto& [key, value] : header.metadata) require(keys.insert(key).second, "a key stands once");
}

/// All metadata, read again: those that were kept, and arrays that are JSON.
void check_metadata(const Shard& shard, const Metadata& kept) {
    const Metadata all = gguf::read_metadata(shard, Keep::all);
    require(all.size() == kept.size(), "all keys are read again");
    for (std::size_t i = 0; i < all.size(); ++i) {
        require(all[i].first == kept[i].first, "keys are in the order of the file");
        require(!std::holds_alternative<NotKept>(all[i].second), "all is kept where that is asked for");
        require(nlohmann::json::accept(to_json(all[i].second)), "a value is JSON");
        if (!std::holds_alternative<NotKept>(kept[i].second))
            require(to_json(all[i].second) == to_json(kept[i].second), "what is kept is the same");
    }
}

/// The kind that the file is refused with; nothing where it is accepted.
std::optional<Kind> verdict(const Shard& shard, std::string_view prefix) {
    try {
        HeaderOptions options;
        options.prefix = prefix;
        const Header header = gguf::read_header(shard, options);
        check_header(header, shard.size(), prefix);
        check_metadata(shard, header.metadata);
        return std::nullopt;
    } catch (const Error& e) {
        require_printable(e);
        return e.problems().front().kind;
    }
}

/// With partial, no more is refused, and less is there only with a problem.
void check_partial(const Shard& shard, std::optional<Kind> kind) {
    HeaderOptions options;
    options.partial = true;
    try {
        const Header header = gguf::read_header(shard, options);
        check_header(header, shard.size(), "");
        require(header.problems.empty() == !kind, "what is left out is a problem");
    } catch (const Error& e) {
        require_printable(e);
        require(kind.has_value(), "with partial, nothing good is refused");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Shard shard = memory_file(data, size);
    const std::optional<Kind> kind = verdict(shard, "");
    require(verdict(shard, "text_encoder.2/") == kind, "a prefix changes no verdict");
    check_partial(shard, kind);
    return 0;
}
