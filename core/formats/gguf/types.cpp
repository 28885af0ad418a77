#include "core/formats/gguf/types.hpp"

#include <array>
#include <cstddef>

namespace tensorfs::gguf {
namespace {

/// What an id stands for: a type, or the name of one that was removed.
struct Row {
    std::optional<Dtype> dtype;
    std::string_view removed = {};
};

constexpr Row is(Dtype dtype) { return {dtype}; }
constexpr Row was(std::string_view name) { return {std::nullopt, name}; }

// By their ids. Source: `enum ggml_type` of ggml, August 2026. Forks of it have used removed and higher ids for types
// of their own.
constexpr std::array<Row, 43> rows{{
    is(Dtype::F32),     is(Dtype::F16),    is(Dtype::Q4_0),   is(Dtype::Q4_1),  was("Q4_2"),        was("Q4_3"),
    is(Dtype::Q5_0),    is(Dtype::Q5_1),   is(Dtype::Q8_0),   is(Dtype::Q8_1),  is(Dtype::Q2_K),    is(Dtype::Q3_K),
    is(Dtype::Q4_K),    is(Dtype::Q5_K),   is(Dtype::Q6_K),   is(Dtype::Q8_K),  is(Dtype::IQ2_XXS), is(Dtype::IQ2_XS),
    is(Dtype::IQ3_XXS), is(Dtype::IQ1_S),  is(Dtype::IQ4_NL), is(Dtype::IQ3_S), is(Dtype::IQ2_S),   is(Dtype::IQ4_XS),
    is(Dtype::I8),      is(Dtype::I16),    is(Dtype::I32),    is(Dtype::I64),   is(Dtype::F64),     is(Dtype::IQ1_M),
    is(Dtype::BF16),    was("Q4_0_4_4"),   was("Q4_0_4_8"),   was("Q4_0_8_8"),  is(Dtype::TQ1_0),   is(Dtype::TQ2_0),
    was("IQ4_NL_4_4"),  was("IQ4_NL_4_8"), was("IQ4_NL_8_8"), is(Dtype::MXFP4), is(Dtype::NVFP4),   is(Dtype::Q1_0),
    is(Dtype::Q2_0),
}};

}  // namespace

std::optional<Dtype> dtype_of_id(std::uint64_t id) {
    return id < rows.size() ? rows[static_cast<std::size_t>(id)].dtype : std::nullopt;
}

std::string_view removed_type(std::uint64_t id) {
    return id < rows.size() ? rows[static_cast<std::size_t>(id)].removed : std::string_view();
}

}  // namespace tensorfs::gguf
