#pragma once

#include <string>
#include <vector>

#include "core/tensors/shard.hpp"

namespace tensorfs::pytorch {

/// What unpickling a file would look up, and PyTorch's weights_only does not allow, those first that it certainly
/// calls: of a file that is refused, as far as its pickles can be read as data. These are the stored members
/// FOLDER/….pkl of an archive, and else the pickles, of any protocol, that the file begins with. Not escaped.
std::vector<std::string> survey(const Shard& shard);

}  // namespace tensorfs::pytorch
