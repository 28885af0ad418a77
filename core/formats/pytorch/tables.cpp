#include "core/formats/pytorch/tables.hpp"

#include <algorithm>
#include <array>

namespace tensorfs::pytorch {
namespace {

using Global = pickle::Pickle::Global;

constexpr std::string_view several_to_a_byte = "its quantised elements share bytes";

constexpr std::array<StorageClass, 18> storage_classes{{
    {"FloatStorage", 4, Dtype::F32, ""},
    {"DoubleStorage", 8, Dtype::F64, ""},
    {"HalfStorage", 2, Dtype::F16, ""},
    {"BFloat16Storage", 2, Dtype::BF16, ""},
    {"LongStorage", 8, Dtype::I64, ""},
    {"IntStorage", 4, Dtype::I32, ""},
    {"ShortStorage", 2, Dtype::I16, ""},
    {"CharStorage", 1, Dtype::I8, ""},
    {"ByteStorage", 1, Dtype::U8, ""},
    {"BoolStorage", 1, Dtype::BOOL, ""},
    {"ComplexFloatStorage", 8, Dtype::C64, ""},
    {"ComplexDoubleStorage", 16, std::nullopt, "safetensors has no type for complex128"},
    // The stored integers: a quantiser's scale and zero point are another matter.
    {"QInt8Storage", 1, Dtype::I8, ""},
    {"QUInt8Storage", 1, Dtype::U8, ""},
    {"QInt32Storage", 4, Dtype::I32, ""},
    {"QUInt4x2Storage", 1, std::nullopt, several_to_a_byte},
    {"QUInt2x4Storage", 1, std::nullopt, several_to_a_byte},
    // Bytes; _UntypedStorage in PyTorch 1.11 and 1.12.
    {"UntypedStorage", 1, Dtype::U8, ""},
}};

struct MakerRow {
    std::string_view module, name;
    Maker maker;
};

constexpr std::array<MakerRow, 20> makers{{
    {"torch._utils", "_rebuild_tensor", Maker::tensor},
    {"torch._utils", "_rebuild_tensor_v2", Maker::tensor},
    {"torch._utils", "_rebuild_qtensor", Maker::tensor},
    {"torch._utils", "_rebuild_tensor_v3", Maker::typed_tensor},
    {"torch._utils", "_rebuild_parameter", Maker::wrapped},
    {"torch._utils", "_rebuild_parameter_with_state", Maker::wrapped},
    {"torch._utils", "_rebuild_device_tensor_from_cpu_tensor", Maker::wrapped},
    {"torch.nn.parameter", "Parameter", Maker::wrapped},
    {"torch._tensor", "_rebuild_from_type_v2", Maker::from_type},
    {"torch._tensor", "_rebuild_from_type", Maker::from_type},
    {"torch.tensor", "_rebuild_from_type_v2", Maker::from_type},
    {"torch.tensor", "_rebuild_from_type", Maker::from_type},
    {"torch._utils", "_rebuild_sparse_tensor", Maker::sparse},
    {"torch._utils", "_rebuild_sparse_csr_tensor", Maker::sparse},
    {"torch._utils", "_rebuild_nested_tensor", Maker::nested},
    {"torch._utils", "_rebuild_meta_tensor_no_storage", Maker::meta},
    {"torch._utils", "_rebuild_wrapper_subclass", Maker::wrapper},
    {"torch._utils", "_rebuild_device_tensor_from_numpy", Maker::inline_array},
    {"torch._utils", "_rebuild_xla_tensor", Maker::inline_array},
    {"torch", "Tensor", Maker::tensor_class},
}};

/// torch.FloatTensor, torch.cuda.HalfTensor and their kin, by the storage that goes with each.
bool is_tensor_class(const Global& global) {
    if (global.module != "torch" && global.module != "torch.cuda") return false;
    constexpr std::string_view suffix = "Tensor";
    if (!global.name.ends_with(suffix)) return false;
    const std::string_view type = global.name.substr(0, global.name.size() - suffix.size());
    return std::any_of(storage_classes.begin(), storage_classes.end(), [&](const StorageClass& row) {
        return row.name.size() == type.size() + std::string_view("Storage").size() && row.name.starts_with(type);
    });
}

}  // namespace

const StorageClass* storage_class(std::string_view name) {
    if (name == "_UntypedStorage") name.remove_prefix(1);
    const auto* const found = std::find_if(storage_classes.begin(), storage_classes.end(),
                                           [&](const StorageClass& row) { return row.name == name; });
    return found == storage_classes.end() ? nullptr : found;
}

std::optional<Dtype> dtype_of_torch(std::string_view name) {
    if (name.empty()) return std::nullopt;
    for (std::size_t i = 0; i < dtype_count; ++i) {
        const auto dtype = static_cast<Dtype>(i);
        if (info(dtype).torch == name) return dtype;
    }
    return std::nullopt;
}

Maker maker_of(const Global& global) {
    for (const MakerRow& row : makers) {
        if (row.name == global.name && row.module == global.module) return row.maker;
    }
    return is_tensor_class(global) ? Maker::tensor_class : Maker::other;
}

bool is_plain_tensor(const Global& global) {
    return global.name == "_rebuild_tensor_v2" || global.name == "_rebuild_tensor_v3";
}

DictClass dict_class(const Global& global) {
    const auto is = [&](std::string_view module, std::string_view name) {
        return global.module == module && global.name == name;
    };
    if (is("collections", "OrderedDict") || is("collections", "Counter") || is("builtins", "dict") ||
        is("__builtin__", "dict")) {
        return DictClass::dict;
    }
    return is("collections", "defaultdict") ? DictClass::defaultdict : DictClass::none;
}

}  // namespace tensorfs::pytorch
