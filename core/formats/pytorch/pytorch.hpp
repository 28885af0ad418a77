#pragma once

#include <string_view>

#include "core/formats/pytorch/checkpoint.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs::pytorch {

/// Reads a checkpoint, in whichever form it was saved. `key` names the dict in it whose tensors are meant,
/// by selection.hpp; "" means all. Problems that are about one tensor or storage are in the result, and
/// PyTorch would refuse the file for each; where nothing can be read, throws Error: InvalidArchive,
/// InvalidPickle, BigEndian, CompressedMember, MissingStorage, StorageOutOfBounds, NotAModel, SystemError.
Checkpoint read_checkpoint(const Shard& shard, std::string_view key = {});

}  // namespace tensorfs::pytorch
