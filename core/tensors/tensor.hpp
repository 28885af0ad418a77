#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/tensors/dtype.hpp"

namespace tensorfs {

/// Dimensions in elements, outermost first; empty for a scalar.
using Shape = std::span<const std::uint64_t>;
/// How many elements lie between neighbours along each dimension; 0 where one element stands for all.
using Strides = std::span<const std::uint64_t>;

/// How a tensor's elements lie in its shard.
enum class ElementLayout : std::uint8_t {
    contiguous,  // row-major, one behind the other: a slice
    strided      // apart, or in another order: to be gathered by its strides
};

/// A tensor's name, type, shape and where its shard holds its elements, little-endian. A plain value of 48
/// bytes, since a model can have a million: name and shape are views into storage of the Header or Model that
/// made it and are valid as long as that is.
class Tensor {
public:
    /// `full_name` is `prefix` bytes that say where the tensor belongs, and its name. With ElementLayout::strided,
    /// as many strides stand behind the dimensions that `shape` views.
    Tensor(std::string_view full_name, std::uint16_t prefix, Dtype dtype, Shape shape, std::uint64_t offset,
           std::uint64_t nbytes, ElementLayout layout = ElementLayout::contiguous)
        : name_(full_name.data()),
          dims_(shape.data()),
          offset_(offset),
          nbytes_(nbytes),
          name_size_(static_cast<std::uint32_t>(full_name.size())),
          rank_(static_cast<std::uint32_t>(shape.size())),
          prefix_(prefix),
          dtype_(dtype),
          layout_(layout) {}

    /// The exact name, valid UTF-8; may be empty and may hold any character, NUL included.
    [[nodiscard]] std::string_view name() const { return full_name().substr(prefix_); }
    /// In a pipeline "COMPONENT/NAME", else the name: no two tensors of a model share it.
    [[nodiscard]] std::string_view full_name() const { return {name_, name_size_}; }
    /// How many bytes of full_name() stand before name().
    [[nodiscard]] std::size_t prefix() const { return prefix_; }
    [[nodiscard]] Dtype dtype() const { return dtype_; }
    [[nodiscard]] Shape shape() const { return {dims_, rank_}; }
    [[nodiscard]] bool is_strided() const { return layout_ == ElementLayout::strided; }
    /// REQUIRES: is_strided().
    [[nodiscard]] Strides strides() const { return {dims_ + rank_, rank_}; }
    /// Bytes from the start of the shard file (not of its data section) to the first element.
    [[nodiscard]] std::uint64_t offset() const { return offset_; }
    /// Of the elements, row-major and one behind the other: what the tensor's file has.
    [[nodiscard]] std::uint64_t nbytes() const { return nbytes_; }
    /// The number of elements: the product of the shape, 1 for a scalar, 0 if a dimension is 0.
    [[nodiscard]] std::uint64_t elements() const {
        if (nbytes_ == 0) return 0;  // other dimensions may be of any size then
        std::uint64_t product = 1;
        for (const std::uint64_t dim : shape()) product *= dim;
        return product;
    }
    /// Which of the model's shards holds it.
    [[nodiscard]] std::uint32_t shard() const { return shard_; }
    void set_shard(std::uint32_t shard) { shard_ = shard; }

    /// The same tensor, whose name and dimensions were copied from the storage that begins at `old_names` and
    /// `old_dims` to the one at `names` and `dims`.
    [[nodiscard]] Tensor moved(const char* old_names, const char* names, const std::uint64_t* old_dims,
                               const std::uint64_t* dims) const {
        Tensor copy = *this;
        copy.name_ = names + (name_ - old_names);
        copy.dims_ = dims + (dims_ - old_dims);
        return copy;
    }

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
    ElementLayout layout_;
};

static_assert(sizeof(Tensor) <= 48);

}  // namespace tensorfs
