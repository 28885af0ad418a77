#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/tensors/dequantise.hpp"

// What the tests of quantised types have in common.

namespace tensorfs::tests {

inline std::vector<Processor> processors_here() {
    std::vector<Processor> here;
    for (std::size_t i = 0; i < processor_count; ++i) {
        if (runs_here(static_cast<Processor>(i))) here.push_back(static_cast<Processor>(i));
    }
    return here;
}

inline std::vector<Dtype> quantised_types() {
    std::vector<Dtype> types;
    for (std::size_t i = 0; i < dtype_count; ++i) {
        if (is_quantised(static_cast<Dtype>(i))) types.push_back(static_cast<Dtype>(i));
    }
    return types;
}

inline std::vector<float> floats_from(const std::string& bytes) {
    std::vector<float> floats(bytes.size() / sizeof(float));
    std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
    return floats;
}

/// All values of whole blocks.
inline std::vector<float> dequantised(Processor processor, Dtype dtype, const std::string& blocks) {
    std::vector<float> out(blocks.size() / block_of(dtype).nbytes * block_of(dtype).elements);
    dequantise(processor, dtype, reinterpret_cast<const std::byte*>(blocks.data()), out.size(), out.data());
    return out;
}

/// How many values have other bits; one NaN is as good as another.
inline std::size_t differing(const std::vector<float>& values, const std::vector<float>& expected) {
    if (values.size() != expected.size()) return values.size() + expected.size();
    std::size_t count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool is_alike = std::isnan(expected[i]) ? std::isnan(values[i])
                                                      : std::bit_cast<std::uint32_t>(values[i]) ==
                                                            std::bit_cast<std::uint32_t>(expected[i]);
        if (!is_alike) ++count;
    }
    return count;
}

}  // namespace tensorfs::tests
