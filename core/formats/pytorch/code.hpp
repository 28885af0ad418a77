#pragma once

#include "core/formats/pickle/pickle.hpp"
#include "core/formats/pytorch/checkpoint.hpp"

namespace tensorfs::pytorch {

/// Appends what unpickling would look up to the code of a checkpoint.
void add_code(Checkpoint& checkpoint, const pickle::Pickle& pickle);

}  // namespace tensorfs::pytorch
