#pragma once

#include <string>

#include "core/formats/pickle/pickle.hpp"
#include "core/formats/pytorch/checkpoint.hpp"
#include "core/formats/pytorch/storages.hpp"

namespace tensorfs::pytorch {

/// Goes all ways from a value to the tensors below it, and adds each under the name of its way. Throws
/// Error (InvalidPickle) where there are more ways than a pickle of its size is allowed. REQUIRES: the
/// storages have their places.
void walk(const pickle::Pickle& pickle, pickle::Handle root, const Storages& storages, const std::string& path,
          Checkpoint& checkpoint);

}  // namespace tensorfs::pytorch
