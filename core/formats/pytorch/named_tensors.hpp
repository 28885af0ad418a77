#pragma once

#include <string>
#include <string_view>

#include "core/formats/pickle/pickle.hpp"
#include "core/formats/pytorch/checkpoint.hpp"
#include "core/formats/pytorch/storages.hpp"

namespace tensorfs::pytorch {

/// Appends all tensors below what `key` names (see selection.hpp), with names from there. Throws Error:
/// NotAModel where that is nothing or no tensor in it can be shown, unless there is a problem as well;
/// InvalidPickle where a small pickle makes more names than it may. A name that stands twice is a problem,
/// and the first is kept. REQUIRES: the storages have their places.
void add_tensors(Checkpoint& checkpoint, const pickle::Pickle& pickle, const Storages& storages, std::string_view key,
                 const std::string& path);

}  // namespace tensorfs::pytorch
