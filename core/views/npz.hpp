#pragma once

#include <span>
#include <string>

#include "core/views/model_file.hpp"

namespace tensorfs {

/// Tensors as a NumPy archive that numpy.load() reads: a zip archive of stored arrays (.npy), whose keys are the
/// full names (utf8_name() in views.hpp). Types that NumPy lacks are there as in npy_view().
///
/// Throws Error (InvalidArchive; `path` is for the message) with all names that cannot be a member's
/// (member_name_problem() in zip_writer.hpp), and of names NAME and NAME.npy, which numpy.load() cannot tell apart.
ModelFile npz_file(std::span<const FileTensor> tensors, const ChecksumOf& checksum_of, const std::string& path);

}  // namespace tensorfs
