#include "core/tensors/dtype.hpp"

#include <algorithm>
#include <array>

namespace tensorfs {
namespace {

// Names and widths: `Dtype` of the Rust crate safetensors 0.8. NumPy: "The array interface
// protocol". PyTorch: "torch.dtype" (F8 since 2.1 and E8M0 since 2.7; F6 has no counterpart, and
// float4_e2m1fn_x2 packs two elements into one).
constexpr std::array<DtypeInfo, dtype_count> table{{
    {"BOOL", 8, "|b1", "bool"},
    {"F4", 4, "", "float4_e2m1fn_x2"},
    {"F6_E2M3", 6, "", ""},
    {"F6_E3M2", 6, "", ""},
    {"U8", 8, "|u1", "uint8"},
    {"I8", 8, "|i1", "int8"},
    {"F8_E5M2", 8, "", "float8_e5m2"},
    {"F8_E4M3", 8, "", "float8_e4m3fn"},
    {"F8_E8M0", 8, "", "float8_e8m0fnu"},
    {"F8_E4M3FNUZ", 8, "", "float8_e4m3fnuz"},
    {"F8_E5M2FNUZ", 8, "", "float8_e5m2fnuz"},
    {"I16", 16, "<i2", "int16"},
    {"U16", 16, "<u2", "uint16"},
    {"F16", 16, "<f2", "float16"},
    {"BF16", 16, "", "bfloat16"},
    {"I32", 32, "<i4", "int32"},
    {"U32", 32, "<u4", "uint32"},
    {"F32", 32, "<f4", "float32"},
    {"C64", 64, "<c8", "complex64"},
    {"F64", 64, "<f8", "float64"},
    {"I64", 64, "<i8", "int64"},
    {"U64", 64, "<u8", "uint64"},
    {"Q4_0", 8, "", "", 32, 18},
    {"Q4_1", 8, "", "", 32, 20},
    {"Q5_0", 8, "", "", 32, 22},
    {"Q5_1", 8, "", "", 32, 24},
    {"Q8_0", 8, "", "", 32, 34},
    {"Q8_1", 8, "", "", 32, 36},
    {"Q2_K", 8, "", "", 256, 84},
    {"Q3_K", 8, "", "", 256, 110},
    {"Q4_K", 8, "", "", 256, 144},
    {"Q5_K", 8, "", "", 256, 176},
    {"Q6_K", 8, "", "", 256, 210},
    {"Q8_K", 8, "", "", 256, 292},
    {"IQ2_XXS", 8, "", "", 256, 66},
    {"IQ2_XS", 8, "", "", 256, 74},
    {"IQ3_XXS", 8, "", "", 256, 98},
    {"IQ1_S", 8, "", "", 256, 50},
    {"IQ4_NL", 8, "", "", 32, 18},
    {"IQ3_S", 8, "", "", 256, 110},
    {"IQ2_S", 8, "", "", 256, 82},
    {"IQ4_XS", 8, "", "", 256, 136},
    {"IQ1_M", 8, "", "", 256, 56},
    {"TQ1_0", 8, "", "", 256, 54},
    {"TQ2_0", 8, "", "", 256, 66},
    {"MXFP4", 8, "", "", 32, 17},
    {"NVFP4", 8, "", "", 64, 36},
    {"Q1_0", 8, "", "", 128, 18},
    {"Q2_0", 8, "", "", 64, 18},
}};

}  // namespace

const DtypeInfo& info(Dtype dtype) { return table[static_cast<std::size_t>(dtype)]; }

std::optional<Dtype> parse_dtype(std::string_view name) {
    const auto* found =
        std::find_if(table.begin(), table.end(), [&](const DtypeInfo& row) { return row.name == name; });
    if (found == table.end()) return std::nullopt;
    return static_cast<Dtype>(found - table.begin());
}

}  // namespace tensorfs
