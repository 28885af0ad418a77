#pragma once

#include <string_view>

namespace tensorfs::pytorch {

/// Whether PyTorch's torch.load(weights_only=True) would look the object up without being told to, by the
/// list in torch/_weights_only_unpickler.py: what rebuilds tensors, their types and classes, and a few
/// containers. Names of Python 2 count as what they are now.
bool is_allowed(std::string_view module, std::string_view name);

}  // namespace tensorfs::pytorch
