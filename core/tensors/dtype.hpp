#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tensorfs {

/// The element types. First the 22 of safetensors, in the reference implementation's order (narrowest
/// first); then GGUF's quantised types, in the order of their ids there. A new one is a line here and a
/// line in dtype.cpp's table.
enum class Dtype : std::uint8_t {
    BOOL,
    F4,
    F6_E2M3,
    F6_E3M2,
    U8,
    I8,
    F8_E5M2,
    F8_E4M3,
    F8_E8M0,
    F8_E4M3FNUZ,
    F8_E5M2FNUZ,
    I16,
    U16,
    F16,
    BF16,
    I32,
    U32,
    F32,
    C64,
    F64,
    I64,
    U64,

    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q8_1,
    Q2_K,
    Q3_K,
    Q4_K,
    Q5_K,
    Q6_K,
    Q8_K,
    IQ2_XXS,
    IQ2_XS,
    IQ3_XXS,
    IQ1_S,
    IQ4_NL,
    IQ3_S,
    IQ2_S,
    IQ4_XS,
    IQ1_M,
    TQ1_0,
    TQ2_0,
    MXFP4,
    NVFP4,
    Q1_0,
    Q2_0,
};

inline constexpr std::size_t dtype_count = 49;
/// How many of them safetensors has: those before Q4_0.
inline constexpr std::size_t plain_dtype_count = static_cast<std::size_t>(Dtype::Q4_0);

/// The smallest group of elements that fills whole bytes: one element of most types, two of F4, four of
/// F6, and of a quantised type as many as share their scales.
struct Block {
    std::uint32_t elements;
    std::uint32_t nbytes;
    bool operator==(const Block&) const = default;
};

/// What is known of an element type.
struct DtypeInfo {
    std::string_view name;  // as in the header: "BF16"
    Block block;
    std::string_view numpy;  // NumPy's array-protocol type of the same bits; "" where it has none
    std::string_view torch;  // PyTorch's name, as in torch.bfloat16; "" where it has none
};

const DtypeInfo& info(Dtype dtype);

inline std::string_view to_string(Dtype dtype) { return info(dtype).name; }
inline Block block_of(Dtype dtype) { return info(dtype).block; }

/// Whether several elements share bytes that cannot be told apart: F4, F6 and the quantised types.
inline bool is_packed(Dtype dtype) { return block_of(dtype).elements != 1; }
/// Whether a block holds scales as well as elements: GGUF's types. Such a block lies in one row.
inline bool is_quantised(Dtype dtype) { return dtype >= Dtype::Q4_0; }

/// How many bytes so many elements take, in whole blocks; nothing where they do not fill these, or where the
/// number does not fit 64 bits.
std::optional<std::uint64_t> nbytes_of(Dtype dtype, std::uint64_t elements);

/// The type of that name; nothing where no type has it. Case matters.
std::optional<Dtype> parse_dtype(std::string_view name);

}  // namespace tensorfs
