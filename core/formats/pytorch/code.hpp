#pragma once

#include <string>
#include <vector>

#include "core/formats/pickle/pickle.hpp"
#include "core/formats/pytorch/checkpoint.hpp"

namespace tensorfs::pytorch {

/// Appends what unpickling would look up to the code of a checkpoint. Throws SyntaxError where that is more than
/// pickle::max_globals, among which something could hide.
void add_code(Checkpoint& checkpoint, const pickle::Pickle& pickle);

/// The same, and passes over what is more. For a file that is refused anyway.
void add_some_code(Checkpoint& checkpoint, const pickle::Pickle& pickle);

/// The names, those first that are certainly called.
std::vector<std::string> names_of(std::vector<Code> code);

}  // namespace tensorfs::pytorch
