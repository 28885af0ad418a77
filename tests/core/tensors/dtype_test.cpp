#include "core/tensors/dtype.hpp"

#include <set>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

using namespace tensorfs;

namespace {

struct Row {
    Dtype dtype;
    std::string_view name;
    unsigned bits;
    std::string_view numpy, torch;
};

// From the format's documentation, NumPy's array interface protocol and PyTorch's list of dtypes.
const std::vector<Row> rows{
    {Dtype::BOOL, "BOOL", 8, "|b1", "bool"},
    {Dtype::F4, "F4", 4, "", "float4_e2m1fn_x2"},
    {Dtype::F6_E2M3, "F6_E2M3", 6, "", ""},
    {Dtype::F6_E3M2, "F6_E3M2", 6, "", ""},
    {Dtype::U8, "U8", 8, "|u1", "uint8"},
    {Dtype::I8, "I8", 8, "|i1", "int8"},
    {Dtype::F8_E5M2, "F8_E5M2", 8, "", "float8_e5m2"},
    {Dtype::F8_E4M3, "F8_E4M3", 8, "", "float8_e4m3fn"},
    {Dtype::F8_E8M0, "F8_E8M0", 8, "", "float8_e8m0fnu"},
    {Dtype::F8_E4M3FNUZ, "F8_E4M3FNUZ", 8, "", "float8_e4m3fnuz"},
    {Dtype::F8_E5M2FNUZ, "F8_E5M2FNUZ", 8, "", "float8_e5m2fnuz"},
    {Dtype::I16, "I16", 16, "<i2", "int16"},
    {Dtype::U16, "U16", 16, "<u2", "uint16"},
    {Dtype::F16, "F16", 16, "<f2", "float16"},
    {Dtype::BF16, "BF16", 16, "", "bfloat16"},
    {Dtype::I32, "I32", 32, "<i4", "int32"},
    {Dtype::U32, "U32", 32, "<u4", "uint32"},
    {Dtype::F32, "F32", 32, "<f4", "float32"},
    {Dtype::C64, "C64", 64, "<c8", "complex64"},
    {Dtype::F64, "F64", 64, "<f8", "float64"},
    {Dtype::I64, "I64", 64, "<i8", "int64"},
    {Dtype::U64, "U64", 64, "<u8", "uint64"},
};

}  // namespace

TEST_CASE("there are 22 element types, each told apart") {
    REQUIRE(rows.size() == plain_dtype_count);
    std::set<Dtype> types;
    for (const Row& row : rows) types.insert(row.dtype);
    CHECK(types.size() == plain_dtype_count);
}

TEST_CASE("each element type has its name, width and counterparts") {
    for (const Row& row : rows) {
        INFO(row.name);
        CHECK(to_string(row.dtype) == row.name);
        CHECK(block_of(row.dtype).nbytes * 8 == block_of(row.dtype).elements * row.bits);
        CHECK(info(row.dtype).name == row.name);
        CHECK_FALSE(is_quantised(row.dtype));
        CHECK(info(row.dtype).numpy == row.numpy);
        CHECK(info(row.dtype).torch == row.torch);
        CHECK(parse_dtype(row.name) == row.dtype);
    }
}

TEST_CASE("a name that is not exactly an element type's names none") {
    for (const char* name : {"", "f32", "bf16", "F32 ", " F32", "F", "F3", "F322", "FLOAT32", "float32", "F8", "F6",
                             "F8_E4M3FN", "F8_E8M0FNU", "C128", "U4", "I4", "BOOLEAN", "F128"}) {
        INFO(name);
        CHECK_FALSE(parse_dtype(name).has_value());
    }
    CHECK_FALSE(parse_dtype(std::string_view("F32\0", 4)).has_value());
}
