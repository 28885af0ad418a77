#pragma once

// The stream in which PyTorch saved before 1.6, and still does when it is told to
// (torch/serialization.py, _legacy_save), in any pickle protocol:
//
//  1. A pickle: the integer 0x1950A86A20F9469CFC6C.
//  2. A pickle: the integer 1001.
//  3. A pickle about the machine that it was saved on, which does not matter: elements are little-endian.
//  4. The pickle of what was saved, with storages as persistent ids of six fields.
//  5. A pickle: the list of the storages' keys.
//  6. For each key in that order, and next to each other: the number of its elements as 8 bytes, which is
//     the one in its id, and the elements.
//
// Every key of the list has an id, every id's key is in the list, and none twice. What follows does not
// matter.

#include <string_view>

#include "core/formats/pytorch/checkpoint.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs::pytorch {

/// Whether a file that begins so is such a stream: its first pickle is that integer, in any protocol.
bool is_legacy(std::string_view beginning);

/// Reads a checkpoint that is a legacy stream. `key`: see selection.hpp. Throws Error: InvalidPickle,
/// MissingStorage, StorageOutOfBounds, NotAModel, SystemError.
Checkpoint read_legacy(const Shard& shard, std::string_view key);

}  // namespace tensorfs::pytorch
