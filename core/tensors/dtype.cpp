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
