#include "core/formats/gguf/llama_cpp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>

namespace tensorfs::gguf {
namespace {

// GGML_MAX_NAME, with the NUL that ends a name there, and GGML_MAX_DIMS.
constexpr std::size_t name_room = 64;
constexpr std::size_t most_dims = 4;

/// How many tensors do not begin where the one before them in the file ends, rounded up.
std::size_t count_elsewhere(const std::vector<HeaderEntry>& entries, std::uint64_t alignment) {
    std::size_t count = 0;
    std::uint64_t expected = 0;
    for (const HeaderEntry& entry : entries) {
        if (entry.begin != expected) ++count;
        expected = (entry.end + alignment - 1) & ~(alignment - 1);
    }
    return count;
}

/// How many names are the same as another's up to a NUL.
std::size_t count_alike(const Header& header, const std::vector<HeaderEntry>& entries) {
    const auto has_nul = [&](const HeaderEntry& e) { return name_of(header, e).find('\0') != std::string_view::npos; };
    if (std::none_of(entries.begin(), entries.end(), has_nul)) return 0;
    std::vector<std::string_view> cut;
    for (const HeaderEntry& entry : entries) {
        const std::string_view name = name_of(header, entry);
        cut.push_back(name.substr(0, name.find('\0')));
    }
    std::sort(cut.begin(), cut.end());
    std::size_t count = 0;
    for (std::size_t i = 1; i < cut.size(); ++i) count += cut[i] == cut[i - 1] ? 1 : 0;
    return count;
}

}  // namespace

std::string why_llama_cpp_would_not(const Header& header, const std::vector<HeaderEntry>& entries, const Keys& keys) {
    const auto count_if = [&](auto is_so) {
        return static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), is_so));
    };
    std::vector<std::string> reasons;
    const auto add = [&](std::uint64_t count, std::string_view one, std::string_view many) {
        if (count != 0) reasons.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
    };
    add(count_if([&](const HeaderEntry& e) { return e.name_size >= name_room; }), "tensor's name has 64 bytes or more",
        "tensors' names have 64 bytes or more");
    add(count_alike(header, entries), "tensor's name is another's up to a NUL",
        "tensors' names are others' up to a NUL");
    add(count_if([](const HeaderEntry& e) { return e.rank > most_dims; }), "tensor has more than 4 dims",
        "tensors have more than 4 dims");
    add(count_elsewhere(entries, keys.alignment), "tensor does not begin where the one before it ends",
        "tensors do not begin where the one before them ends");
    add(keys.nested_arrays, "key is an array of arrays", "keys are arrays of arrays");
    if (reasons.empty()) return {};
    return fmt::format("llama.cpp would not load it: {}", fmt::join(reasons, ", "));
}

}  // namespace tensorfs::gguf
