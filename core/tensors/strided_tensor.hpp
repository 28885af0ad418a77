#pragma once

#include "core/tensors/gather.hpp"
#include "core/tensors/tensor.hpp"

namespace tensorfs {

/// Where a strided tensor's elements lie in its shard. REQUIRES: tensor.is_strided().
inline Strided strided_of(const Tensor& tensor) {
    const Shape shape = tensor.shape();
    const Strides strides = tensor.strides();
    return {{shape.begin(), shape.end()},
            {strides.begin(), strides.end()},
            block_of(tensor.dtype()).nbytes,
            tensor.offset()};
}

}  // namespace tensorfs
