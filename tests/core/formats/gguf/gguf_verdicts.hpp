#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/metadata.hpp"
#include "core/tensors/tensor.hpp"

// The corpus of GGUF files, and what is to be made of each, as its README.md describes it.

namespace tensorfs::tests {

using Json = nlohmann::ordered_json;

/// The verdicts in a file of the corpus, in order; none where the corpus is absent.
std::vector<Json> verdicts_in(std::string_view file);
/// The path of something in the corpus. REQUIRES: it is there.
std::string corpus_path(std::string_view name);

/// Checks that a file's tensors are those of a verdict, in whatever order.
void check_tensors(const std::vector<Tensor>& tensors, const Json& verdict);
/// Checks that all of a file's metadata are those of a verdict, types, bits and order.
void check_metadata(const Metadata& all, const Json& verdict);

}  // namespace tensorfs::tests
