#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/tensors/dtype.hpp"

namespace tensorfs {

/// Dimensions in elements, outermost first; empty for a scalar.
using Shape = std::span<const std::uint64_t>;

/// A tensor's name, type, shape and the slice of its shard that holds its elements, row-major and
/// little-endian. A plain value of 48 bytes, since a model can have a million: name and shape are
/// views into storage of the Header or Model that made it and are valid as long as that is.
class Tensor {
public:
    /// `full_name` is `prefix` bytes that say where the tensor belongs, and its name.
    Tensor(std::string_view full_name, std::uint16_t prefix, Dtype dtype, Shape shape, std::uint64_t offset,
           std::uint64_t nbytes)
        : name_(full_name.data()),
          dims_(shape.data()),
          offset_(offset),
          nbytes_(nbytes),
          name_size_(static_cast<std::uint32_t>(full_name.size())),
          rank_(static_cast<std::uint32_t>(shape.size())),
          prefix_(prefix),
          dtype_(dtype) {}

    /// The exact name, valid UTF-8; may be empty and may hold any character, NUL included.
    [[nodiscard]] std::string_view name() const { return full_name().substr(prefix_); }
    /// In a pipeline "COMPONENT/NAME", else the name: no two tensors of a model share it.
    [[nodiscard]] std::string_view full_name() const { return {name_, name_size_}; }
    /// How many bytes of full_name() stand before name().
    [[nodiscard]] std::size_t prefix() const { return prefix_; }
    [[nodiscard]] Dtype dtype() const { return dtype_; }
    [[nodiscard]] Shape shape() const { return {dims_, rank_}; }
    /// Bytes from the start of the shard file (not of its data section) to the first element.
    [[nodiscard]] std::uint64_t offset() const { return offset_; }
    [[nodiscard]] std::uint64_t nbytes() const { return nbytes_; }
    /// The number of elements: the product of the shape, 1 for a scalar, 0 if a dimension is 0.
    [[nodiscard]] std::uint64_t elements() const {
        return nbytes_ / bits(dtype_) * 8 + nbytes_ % bits(dtype_) * 8 / bits(dtype_);
    }
    /// Which of the model's shards holds it.
    [[nodiscard]] std::uint32_t shard() const { return shard_; }
    void set_shard(std::uint32_t shard) { shard_ = shard; }

private:
    const char* name_;
    const std::uint64_t* dims_;
    std::uint64_t offset_;
    std::uint64_t nbytes_;
    std::uint32_t name_size_;
    std::uint32_t rank_;
    std::uint32_t shard_ = 0;
    std::uint16_t prefix_;
    Dtype dtype_;
};

static_assert(sizeof(Tensor) <= 48);

}  // namespace tensorfs
