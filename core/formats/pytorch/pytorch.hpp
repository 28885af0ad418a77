#pragma once

// PyTorch checkpoints, as a format of the table in core/formats/formats.hpp. What is read of the two forms
// of files, and by which rules, stands in archive.hpp and legacy.hpp; what the tensors are called, in
// checkpoint.hpp. Which files PyTorch itself takes decides which are good, but that nothing is inflated or
// converted: what is compressed, encrypted or big-endian, TorchScript, and the tar archives of before 2017
// are refused.

#include <string_view>

#include "core/formats/header.hpp"
#include "core/formats/pytorch/checkpoint.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs::pytorch {

/// Whether a file that begins so is a checkpoint of one of the forms, or a pickle or program of PyTorch's that
/// read_header() refuses with more to say than anyone else. Reads an archive's directory only where the first
/// member does not tell. Throws Error (InvalidArchive, SystemError).
bool is_content(std::string_view beginning, const Shard& shard);

/// Reads and validates a checkpoint. What cannot be shown is a note, tensor by tensor up to a hundred; the
/// header's `calls` are all objects that unpickling would look up and PyTorch's weights_only does not allow,
/// those first that it certainly calls; of a file that is refused, each is a problem, RunsCode. Throws Error:
/// InvalidArchive, InvalidPickle, BigEndian, CompressedMember, MissingStorage, StorageOutOfBounds, ValidationOverflow,
/// DuplicateName, NotAModel, SystemError.
Header read_header(const Shard& shard, const HeaderOptions& options = {});

/// A checkpoint has none that is not among what was pickled.
Metadata read_metadata(const Shard& shard, Keep wanted);

/// What read_header() is made of: with problems beside the tensors that have none. `key` is as in
/// selection.hpp. Throws Error where nothing can be read.
Checkpoint read_checkpoint(const Shard& shard, std::string_view key = {});

}  // namespace tensorfs::pytorch
