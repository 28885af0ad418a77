#include "core/tensors/dtype.hpp"

#include <algorithm>
#include <array>

namespace tensorfs {
namespace {

/// A type of one element to a block.
constexpr DtypeInfo plain(std::string_view name, std::uint32_t nbytes, std::string_view numpy, std::string_view torch) {
    return {name, {1, nbytes}, numpy, torch};
}

constexpr DtypeInfo quantised(std::string_view name, std::uint32_t elements, std::uint32_t nbytes) {
    return {name, {elements, nbytes}, "", ""};
}

// Names and widths: `Dtype` of the Rust crate safetensors 0.8. NumPy: "The array interface
// protocol". PyTorch: "torch.dtype" (F8 since 2.1 and E8M0 since 2.7; F6 has no counterpart, and
// float4_e2m1fn_x2 packs two elements into one). Quantised types: ggml's type table of August 2026.
constexpr std::array<DtypeInfo, dtype_count> table{{
    plain("BOOL", 1, "|b1", "bool"),
    {"F4", {2, 1}, "", "float4_e2m1fn_x2"},
    {"F6_E2M3", {4, 3}, "", ""},
    {"F6_E3M2", {4, 3}, "", ""},
    plain("U8", 1, "|u1", "uint8"),
    plain("I8", 1, "|i1", "int8"),
    plain("F8_E5M2", 1, "", "float8_e5m2"),
    plain("F8_E4M3", 1, "", "float8_e4m3fn"),
    plain("F8_E8M0", 1, "", "float8_e8m0fnu"),
    plain("F8_E4M3FNUZ", 1, "", "float8_e4m3fnuz"),
    plain("F8_E5M2FNUZ", 1, "", "float8_e5m2fnuz"),
    plain("I16", 2, "<i2", "int16"),
    plain("U16", 2, "<u2", "uint16"),
    plain("F16", 2, "<f2", "float16"),
    plain("BF16", 2, "", "bfloat16"),
    plain("I32", 4, "<i4", "int32"),
    plain("U32", 4, "<u4", "uint32"),
    plain("F32", 4, "<f4", "float32"),
    plain("C64", 8, "<c8", "complex64"),
    plain("F64", 8, "<f8", "float64"),
    plain("I64", 8, "<i8", "int64"),
    plain("U64", 8, "<u8", "uint64"),

    quantised("Q4_0", 32, 18),
    quantised("Q4_1", 32, 20),
    quantised("Q5_0", 32, 22),
    quantised("Q5_1", 32, 24),
    quantised("Q8_0", 32, 34),
    quantised("Q8_1", 32, 36),
    quantised("Q2_K", 256, 84),
    quantised("Q3_K", 256, 110),
    quantised("Q4_K", 256, 144),
    quantised("Q5_K", 256, 176),
    quantised("Q6_K", 256, 210),
    quantised("Q8_K", 256, 292),
    quantised("IQ2_XXS", 256, 66),
    quantised("IQ2_XS", 256, 74),
    quantised("IQ3_XXS", 256, 98),
    quantised("IQ1_S", 256, 50),
    quantised("IQ4_NL", 32, 18),
    quantised("IQ3_S", 256, 110),
    quantised("IQ2_S", 256, 82),
    quantised("IQ4_XS", 256, 136),
    quantised("IQ1_M", 256, 56),
    quantised("TQ1_0", 256, 54),
    quantised("TQ2_0", 256, 66),
    quantised("MXFP4", 32, 17),
    quantised("NVFP4", 64, 36),
    quantised("Q1_0", 128, 18),
    quantised("Q2_0", 64, 18),
}};

static_assert(table[plain_dtype_count].name == "Q4_0" && table.back().name == "Q2_0");

}  // namespace

const DtypeInfo& info(Dtype dtype) { return table[static_cast<std::size_t>(dtype)]; }

std::optional<std::uint64_t> nbytes_of(Dtype dtype, std::uint64_t elements) {
    const Block unit = block_of(dtype);
    std::uint64_t nbytes = 0;
    if (elements % unit.elements != 0) return std::nullopt;
    if (__builtin_mul_overflow(elements / unit.elements, std::uint64_t{unit.nbytes}, &nbytes)) return std::nullopt;
    return nbytes;
}

std::optional<Dtype> parse_dtype(std::string_view name) {
    const auto* found =
        std::find_if(table.begin(), table.end(), [&](const DtypeInfo& row) { return row.name == name; });
    if (found == table.end()) return std::nullopt;
    return static_cast<Dtype>(found - table.begin());
}

}  // namespace tensorfs
