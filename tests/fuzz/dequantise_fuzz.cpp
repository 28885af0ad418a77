#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/tensors/dequantise.hpp"
#include "tests/fuzz/require.hpp"

// An input is a byte that chooses the type, one that chooses how far behind an address of 16 the blocks lie, and
// blocks, of which an incomplete one at the end is left out.

using namespace tensorfs;
using namespace tensorfs::fuzz;

namespace {

constexpr float untouched = 1234.5F;
constexpr std::size_t guard = 16;  // elements before and behind what may be written

std::vector<Dtype> quantised_types() {
    std::vector<Dtype> types;
    for (std::size_t i = 0; i < dtype_count; ++i) {
        if (is_quantised(static_cast<Dtype>(i))) types.push_back(static_cast<Dtype>(i));
    }
    return types;
}

bool is_alike(float a, float b) {
    return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

/// Computes values between guards that must stay as they are.
std::vector<float> computed(Processor processor, Dtype dtype, const std::byte* blocks, std::size_t elements) {
    std::vector<float> out(elements + 2 * guard, untouched);
    dequantise(processor, dtype, blocks, elements, out.data() + guard);
    for (std::size_t i = 0; i < guard; ++i) {
        require(out[i] == untouched, "nothing is written before the values");
        require(out[out.size() - 1 - i] == untouched, "nothing is written behind the values");
    }
    return {out.begin() + guard, out.end() - guard};
}

void require_alike(const std::vector<float>& values, const float* expected, const char* promise) {
    for (std::size_t i = 0; i < values.size(); ++i) require(is_alike(values[i], expected[i]), promise);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    static const std::vector<Dtype> types = quantised_types();
    const Dtype dtype = types[data[0] % types.size()];
    const std::size_t shift = data[1] % 16;
    const std::size_t nbytes = block_of(dtype).nbytes;
    const std::size_t blocks = (size - 2) / nbytes;
    const std::size_t elements = block_of(dtype).elements;

    // As large as it must be, so that the sanitizer sees what is read behind it.
    const auto memory = std::make_unique<std::byte[]>(shift + blocks * nbytes);
    if (blocks != 0) std::memcpy(memory.get() + shift, data + 2, blocks * nbytes);
    const std::byte* const begin = memory.get() + shift;

    const std::vector<float> all = computed(Processor::baseline, dtype, begin, blocks * elements);
    for (const Processor processor : {Processor::avx2, Processor::avx512}) {
        if (!runs_here(processor)) continue;
        require_alike(computed(processor, dtype, begin, blocks * elements), all.data(),
                      "each processor's code computes the same");
    }
    for (std::size_t i = 0; i < blocks; ++i) {
        require_alike(computed(best_processor(), dtype, begin + i * nbytes, elements), all.data() + i * elements,
                      "a block's values do not depend on others");
    }
    return 0;
}
