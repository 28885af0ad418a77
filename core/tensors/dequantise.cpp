#include "core/tensors/dequantise.hpp"

#include <array>

#include "core/tensors/quantised/codebook_types.hpp"
#include "core/tensors/quantised/four_bit_tables.hpp"
#include "core/tensors/quantised/k_quants.hpp"
#include "core/tensors/quantised/simple.hpp"
#include "core/tensors/quantised/ternary.hpp"

// Compiled with -ffp-contract=off (see CMakeLists.txt): that values are the reference's must not hang on whether a
// product, here always of fewer bits than a float32 has, is rounded before something is added.

namespace tensorfs {
namespace {

using namespace quantised;

/// All blocks of a type, one after the other.
template <class Block>
struct Blocks {
    [[gnu::always_inline]] static void run(const std::byte* in, std::size_t count, float* out) {
        for (std::size_t i = 0; i < count; ++i) Block::values(in + i * Block::nbytes, out + i * Block::elements);
    }
};

struct Type {
    Dtype dtype;
    std::size_t block_elements;
    Versions versions;
};

template <class Block>
constexpr Type type(Dtype dtype) {
    return {dtype, Block::elements, versions<Blocks<Block>>};
}

// In the order of Dtype.
constexpr std::array types{
    type<Q4_0>(Dtype::Q4_0),       type<Q4_1>(Dtype::Q4_1),     type<Q5_0>(Dtype::Q5_0),
    type<Q5_1>(Dtype::Q5_1),       type<Q8_0>(Dtype::Q8_0),     type<Q8_1>(Dtype::Q8_1),
    type<Q2_K>(Dtype::Q2_K),       type<Q3_K>(Dtype::Q3_K),     type<Q4_K>(Dtype::Q4_K),
    type<Q5_K>(Dtype::Q5_K),       type<Q6_K>(Dtype::Q6_K),     type<Q8_K>(Dtype::Q8_K),
    type<IQ2_XXS>(Dtype::IQ2_XXS), type<IQ2_XS>(Dtype::IQ2_XS), type<IQ3_XXS>(Dtype::IQ3_XXS),
    type<IQ1_S>(Dtype::IQ1_S),     type<IQ4_NL>(Dtype::IQ4_NL), type<IQ3_S>(Dtype::IQ3_S),
    type<IQ2_S>(Dtype::IQ2_S),     type<IQ4_XS>(Dtype::IQ4_XS), type<IQ1_M>(Dtype::IQ1_M),
    type<TQ1_0>(Dtype::TQ1_0),     type<TQ2_0>(Dtype::TQ2_0),   type<MXFP4>(Dtype::MXFP4),
    type<NVFP4>(Dtype::NVFP4),     type<Q1_0>(Dtype::Q1_0),     type<Q2_0>(Dtype::Q2_0),
};

constexpr auto first = static_cast<std::size_t>(types.front().dtype);

constexpr bool is_in_order() {
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (static_cast<std::size_t>(types[i].dtype) != first + i) return false;
    }
    return true;
}
static_assert(is_in_order() && types.size() == dtype_count - plain_dtype_count, "a type is found by its number");

}  // namespace

void dequantise(Dtype dtype, const std::byte* blocks, std::size_t elements, float* out) {
    dequantise(best_processor(), dtype, blocks, elements, out);
}

void dequantise(Processor processor, Dtype dtype, const std::byte* blocks, std::size_t elements, float* out) {
    const Type& type = types[static_cast<std::size_t>(dtype) - first];
    type.versions[static_cast<std::size_t>(processor)](blocks, elements / type.block_elements, out);
}

}  // namespace tensorfs
