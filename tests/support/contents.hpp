#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/tensors/content.hpp"
#include "core/tensors/widen.hpp"
#include "tests/support/support.hpp"

namespace tensorfs::tests {

/// What a range of a content holds, by its pieces. Throws std::runtime_error where it is not to be had.
inline std::string bytes_of(const Content& content, const std::vector<Shard>& shards, std::uint64_t offset = 0,
                            std::uint64_t nbytes = UINT64_MAX) {
    std::vector<Content::Piece> pieces;
    content.gather(offset, nbytes, shards, pieces);
    std::string all;
    for (const Content::Piece& piece : pieces) {
        const std::size_t at = all.size();
        all.resize(at + piece.nbytes);
        if (!piece.copy_to(reinterpret_cast<std::byte*>(all.data() + at))) throw std::runtime_error("a piece is lost");
    }
    return all;
}

/// Packed elements, widened: the bytes of float32s. REQUIRES: whole groups of elements.
inline std::string widened_bytes(Dtype dtype, const std::string& packed) {
    std::vector<float> wide(packed.size() / block_of(dtype).nbytes * block_of(dtype).elements);
    widen(dtype, reinterpret_cast<const std::byte*>(packed.data()), wide.size(), wide.data());
    return {reinterpret_cast<const char*>(wide.data()), wide.size() * sizeof(float)};
}

/// Fills a folder with two shards that are good, but whose names are too long for one header together.
inline void write_too_much_for_one_header(const TemporaryFolder& folder) {
    for (const std::string shard : {"1", "2"}) {
        const std::string name = shard + std::string(50'000'000, 'n');
        write_file(folder / (shard + ".safetensors"),
                   safetensors_file("{\"" + name + R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x"));
    }
}

/// An unsigned number of `size` bytes, little-endian.
inline std::string little_endian(std::uint64_t value, std::size_t size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i, value >>= 8) bytes += static_cast<char>(value & 0xFF);
    return bytes;
}

/// The number that these bytes are, little-endian.
inline std::uint64_t number_of(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
}

}  // namespace tensorfs::tests
