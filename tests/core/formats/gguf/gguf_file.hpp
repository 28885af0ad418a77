#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/contents.hpp"

namespace tensorfs::tests {

/// A string as GGUF has it: its length and its bytes.
inline std::string gguf_string(std::string_view text) { return little_endian(text.size(), 8) + std::string(text); }

/// An array: the id of its elements' type, how many, and their bytes.
inline std::string gguf_array(std::uint32_t of, std::uint64_t count, std::string_view elements) {
    return little_endian(of, 4) + little_endian(count, 8) + std::string(elements);
}

// Ids of values' and of tensors' types.
inline constexpr std::uint32_t gguf_u8 = 0, gguf_u16 = 2, gguf_u32 = 4, gguf_i32 = 5, gguf_f32 = 6, gguf_bool = 7,
                               gguf_str = 8, gguf_arr = 9, gguf_u64 = 10;
inline constexpr std::uint32_t gguf_tensor_f32 = 0, gguf_tensor_q4_0 = 2, gguf_tensor_q8_0 = 8, gguf_tensor_i8 = 24;

/// Writes a GGUF file, good or bad.
class GgufFile {
public:
    GgufFile& key(std::string_view name, std::uint32_t type, std::string_view value) {
        keys_ += gguf_string(name) + little_endian(type, 4) + std::string(value);
        ++key_count_;
        return *this;
    }
    /// `dims` as they stand in the file: the row first.
    GgufFile& tensor(std::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
                     std::uint64_t offset) {
        infos_ += gguf_string(name) + little_endian(dims.size(), 4);
        for (const std::uint64_t dim : dims) infos_ += little_endian(dim, 8);
        infos_ += little_endian(type, 4) + little_endian(offset, 8);
        ++tensor_count_;
        return *this;
    }
    /// The keys that make it part `number` (from 0) of a split.
    GgufFile& split(std::uint64_t number, std::uint64_t count, std::uint64_t tensors) {
        key("split.no", gguf_u16, little_endian(number, 2));
        key("split.count", gguf_u16, little_endian(count, 2));
        return key("split.tensors.count", gguf_i32, little_endian(tensors, 4));
    }
    /// Up to the padding.
    [[nodiscard]] std::string header() const {
        return "GGUF" + little_endian(3, 4) + little_endian(tensor_count_, 8) + little_endian(key_count_, 8) + keys_ +
               infos_;
    }
    /// With the data, which begins at a multiple of `alignment`.
    [[nodiscard]] std::string bytes(std::string_view data, std::size_t alignment = 32) const {
        std::string all = header();
        all.resize((all.size() + alignment - 1) / alignment * alignment);
        return all += data;
    }

private:
    std::string keys_, infos_;
    std::uint64_t key_count_ = 0, tensor_count_ = 0;
};

}  // namespace tensorfs::tests
