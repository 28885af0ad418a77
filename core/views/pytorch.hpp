#pragma once

#include <span>

#include "core/model/model.hpp"
#include "core/views/model_file.hpp"

namespace tensorfs {

/// Tensors as a checkpoint that torch.load() reads, with weights_only and mmap, too: a zip
/// archive of the tensors' bytes, a storage each, and a pickle (protocol 2) of a dict from full names
/// (utf8_name() in views.hpp) to tensors.
///
/// Types that some PyTorch lacks are there bit for bit in a type of the same width that every PyTorch
/// has: U16, U32 and U64 as int16, int32 and int64; the 8-bit floats as uint8; F4, F6 and quantised
/// types as their bytes, uint8 of the stored_shape(). Which those are, the member .tensorfs/quantised.json says.
/// `tensor.view(torch.float8_e4m3fn)` and the like undo it.
ModelFile pytorch_file(std::span<const FileTensor> tensors, const ChecksumOf& checksum_of);

/// The whole model as such a file, with the checksums of small tensors.
Content pytorch_view(const Model& model);

}  // namespace tensorfs
