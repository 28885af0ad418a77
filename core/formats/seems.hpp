#pragma once

#include <string>

#include "core/tensors/shard.hpp"

namespace tensorfs {

/// What a file that is no model of the format that was tried seems to be, by its first bytes: a clause for a
/// message, such as "this seems to be a gzip file, which must be unpacked first"; "" where nothing is known.
/// It looks at a few hundred bytes, and may quote a short text. Throws Error (SystemError).
std::string seems_to_be(const Shard& shard);

}  // namespace tensorfs
