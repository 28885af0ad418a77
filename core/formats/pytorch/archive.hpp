#pragma once

// The zip archive that PyTorch saves since 1.4 (torch/serialization.py, _save; caffe2/serialize). All
// below one folder, whose name does not matter:
//
//   data.pkl    the pickle of what was saved, with storages as persistent ids of five fields
//   data/KEY    the bytes of the storage with that key, perhaps more than it has
//   byteorder   "little" or "big"; not before 2.1, and then it is little
//
// An archive with constants.pkl is TorchScript, a program. Other members do not matter.

#include <string_view>

#include "core/formats/pytorch/checkpoint.hpp"
#include "core/formats/zip/directory.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs::pytorch {

/// Whether an archive holds a checkpoint or TorchScript, or several.
bool is_checkpoint(const zip::Directory& directory);

/// Reads a checkpoint that is an archive. `key`: see selection.hpp. Throws Error: NotAModel, InvalidArchive, BigEndian,
/// CompressedMember, InvalidPickle, SystemError. REQUIRES: the directory is the shard's.
Checkpoint read_archive(const Shard& shard, const zip::Directory& directory, std::string_view key);

}  // namespace tensorfs::pytorch
