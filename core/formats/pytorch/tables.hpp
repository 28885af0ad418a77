#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/formats/pickle/pickle.hpp"
#include "core/tensors/dtype.hpp"

// What names in a checkpoint's pickle stand for: the classes of storages, the element types, and the
// functions that make tensors (torch/_utils.py, torch/storage.py and torch/_tensor.py, from 0.1.11 on).

namespace tensorfs::pytorch {

/// A class of storages: what the elements are whose number a persistent id gives.
struct StorageClass {
    std::string_view name;
    std::uint32_t width;  // of one element, in bytes
    std::optional<Dtype> dtype;
    std::string_view without_dtype;  // why there is none; "" if there is one
};

/// The class of that name; null if nobody knows it. In which module it stands does not matter, as it
/// does not to PyTorch: torch, torch.cuda and torch.storage have had them.
const StorageClass* storage_class(std::string_view name);

/// The type that PyTorch names so, as in torch.bfloat16; nothing if safetensors has no such type.
std::optional<Dtype> dtype_of_torch(std::string_view name);

/// What a call of a global makes.
enum class Maker : std::uint8_t {
    other,         // no tensor
    tensor,        // (storage, offset, size, stride, …): the first four of all forms
    typed_tensor,  // the same of an untyped storage, with the type as the seventh: _rebuild_tensor_v3
    wrapped,       // a tensor that its first argument is, or its state's first
    from_type,     // (function, class, arguments, …): what the function makes of the arguments
    tensor_class,  // as a class, with such a tuple of four as its state; or a wrapped one
    sparse,        // these have no bytes of their own, or not as elements in order
    nested,
    meta,
    wrapper,
    inline_array,
};

/// What a call of the global makes.
Maker maker_of(const pickle::Pickle::Global& global);

/// Whether the argument at position 6 (`tensor`) or 7 (`typed_tensor`) of such a call may say that the
/// values are not the stored ones but conjugated or negated. Only _rebuild_tensor_v2 and _v3 have it.
bool is_plain_tensor(const pickle::Pickle::Global& global);

/// What calls of these give is a dict, and their items are its.
enum class DictClass : std::uint8_t {
    none,
    dict,         // dict, OrderedDict, Counter: of a list of pairs or a dict, if anything
    defaultdict,  // with what makes the default before that
};
DictClass dict_class(const pickle::Pickle::Global& global);

}  // namespace tensorfs::pytorch
