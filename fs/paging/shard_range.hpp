#pragma once

#include <cstddef>
#include <cstdint>

namespace tensorfs {

/// A range of a shard's bytes, counted from the start of the file. The shard is its index in Model::shards().
struct ShardRange {
    std::size_t shard = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // exclusive

    [[nodiscard]] bool empty() const noexcept { return begin >= end; }
    [[nodiscard]] std::uint64_t nbytes() const noexcept { return end - begin; }
    bool operator==(const ShardRange&) const = default;
};

}  // namespace tensorfs
