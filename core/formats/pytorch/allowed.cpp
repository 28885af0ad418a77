#include "core/formats/pytorch/allowed.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/formats/pytorch/tables.hpp"

namespace tensorfs::pytorch {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

constexpr std::array<Name, 12> objects{{
    {"collections", "OrderedDict"},
    {"collections", "Counter"},
    {"torch", "Size"},
    {"torch", "device"},
    {"torch.nn.parameter", "Parameter"},
    {"torch.serialization", "_get_layout"},
    {"torch.storage", "TypedStorage"},
    {"torch.storage", "UntypedStorage"},
    {"_codecs", "encode"},
    {"builtins", "bytearray"},
    {"builtins", "set"},
    {"builtins", "complex"},
}};

constexpr std::array<std::string_view, 5> qschemes{"per_tensor_affine", "per_channel_affine", "per_tensor_symmetric",
                                                   "per_channel_symmetric", "per_channel_affine_float_qparams"};

/// Types of torch that safetensors has not.
constexpr std::array<std::string_view, 26> other_dtypes{
    "complex32", "complex128", "qint8",  "quint8", "qint32", "quint4x2", "quint2x4", "bits1x8", "bits2x4",
    "bits4x2",   "bits8",      "bits16", "int1",   "int2",   "int3",     "int4",     "int5",    "int6",
    "int7",      "uint1",      "uint2",  "uint3",  "uint4",  "uint5",    "uint6",    "uint7"};

/// The functions of torch._utils and torch._tensor that rebuild.
constexpr std::array<std::string_view, 13> rebuilders{"_rebuild_parameter",
                                                      "_rebuild_parameter_with_state",
                                                      "_rebuild_qtensor",
                                                      "_rebuild_tensor",
                                                      "_rebuild_tensor_v2",
                                                      "_rebuild_tensor_v3",
                                                      "_rebuild_sparse_tensor",
                                                      "_rebuild_meta_tensor_no_storage",
                                                      "_rebuild_nested_tensor",
                                                      "_rebuild_wrapper_subclass",
                                                      "_rebuild_device_tensor_from_numpy",
                                                      "_rebuild_device_tensor_from_cpu_tensor",
                                                      "_rebuild_sparse_csr_tensor"};

template <typename List>
bool has(const List& list, const typename List::value_type& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

bool is_allowed(std::string_view module, std::string_view name) {
    if (module == "__builtin__") module = "builtins";
    if (has(objects, Name(module, name))) return true;
    if (module == "torch._utils") return has(rebuilders, name);
    if (module == "torch._tensor") return name == "_rebuild_from_type_v2";
    const bool is_of_torch = module == "torch" || module == "torch.cuda";
    if (is_of_torch && storage_class(name) != nullptr) return true;
    const bool is_sparse = module == "torch.sparse" || module == "torch.cuda.sparse";
    if ((is_of_torch || is_sparse) && maker_of({"torch", name}) == Maker::tensor_class) return true;
    return module == "torch" && (dtype_of_torch(name) || has(other_dtypes, name) || has(qschemes, name));
}

}  // namespace tensorfs::pytorch
