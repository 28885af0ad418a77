#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/tensors/content.hpp"
#include "core/tensors/shard.hpp"
#include "core/tensors/tensor.hpp"

namespace tensorfs {

/// Reads a tensor's elements, row-major, piece by piece, in memory that does not grow with it: 256 KiB, or 4 MiB of a
/// strided one, since whoever gathers more at once reads less. Refers to tensor and shards. For one thread.
class ElementReader {
public:
    ElementReader(const Tensor& tensor, const std::vector<Shard>& shards);

    /// Gets elements as they lie, and the number of the first of them.
    using Visit = std::function<void(std::uint64_t first, std::span<const std::byte> elements)>;

    /// Calls `visit` with the `count` elements from number `first` on, in order, in whole blocks. Throws Error
    /// (SystemError), naming the tensor, where bytes are not to be had. REQUIRES: whole blocks within the tensor.
    void read(std::uint64_t first, std::uint64_t count, const Visit& visit);

private:
    const Tensor& tensor_;
    const std::vector<Shard>& shards_;
    Content content_;
    std::vector<std::byte> buffer_;
};

}  // namespace tensorfs
