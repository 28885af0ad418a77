#pragma once

#include <cstdint>
#include <vector>

#include "core/model/model.hpp"
#include "core/numbers/statistics.hpp"

namespace tensorfs {

/// Statistics of some of a model's tensors, in their order: what was selected, as indices in Model::tensors(). Reads
/// all of their elements, in parallel, tensors as well as parts of a large one, and shows how far it is. The figures do
/// not hang on the number of threads. Throws Error (SystemError). REQUIRES: the model is mapped.
std::vector<Statistics> measure(const Model& model, const std::vector<std::uint32_t>& selected);

}  // namespace tensorfs
