#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tensorfs {

/// The element types of safetensors, in the reference implementation's order (narrowest first).
/// A new one is a line here and a line in dtype.cpp's table.
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

/// What is known of an element type.
struct DtypeInfo {
    std::string_view name;   // as in the header: "BF16"
    std::uint32_t bits;      // of one element: 4, 6, 8, 16, 32 or 64
    std::string_view numpy;  // NumPy's array-protocol type of the same bits; "" where it has none
    std::string_view torch;  // PyTorch's name, as in torch.bfloat16; "" where it has none
    std::uint32_t block_elements = 1;
    std::uint32_t block_nbytes = 1;
};

const DtypeInfo& info(Dtype dtype);

inline std::string_view to_string(Dtype dtype) { return info(dtype).name; }
inline std::uint32_t bits(Dtype dtype) { return info(dtype).bits; }

/// The type that a header names so; nothing where no type has that name. Case matters.
std::optional<Dtype> parse_dtype(std::string_view name);

}  // namespace tensorfs
