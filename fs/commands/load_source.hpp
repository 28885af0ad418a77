#pragma once

#include <array>
#include <string>

#include "core/model/model.hpp"
#include "fs/command_line/typed.hpp"
#include "fs/command_line/verb.hpp"
#include "fs/options/options.hpp"

namespace tensorfs {

/// SOURCE, as most verbs take it.
inline constexpr Argument source_argument{
    .value = {"SOURCE", Completes::source},
    .help = "a model's folder or file, an index or a Hub id",
};

/// The arguments of a verb that takes a source and nothing else.
inline constexpr std::array source_alone{source_argument};

/// NAME, a tensor's.
inline constexpr Argument name_argument{
    .value = {"NAME", Completes::tensor},
    .help = "the tensor's name, as ls shows it or exactly",
    .manual = R"(NAME is what
.Cm ls
prints, or the name itself.)",
};

/// What -o says about the source. Throws Failure (usage).
LoadOptions load_options(const Typed& typed, OnProblem otherwise = OnProblem::refuse);

/// Finds and loads the model at SOURCE, as -o says. Throws Error or Failure (usage).
Model load_source(const Typed& typed, OnProblem otherwise = OnProblem::refuse);

/// The same for another path.
Model load_source(const std::string& path, const Typed& typed, OnProblem otherwise = OnProblem::refuse);

/// The index in Model::tensors() of the tensor NAME. Throws Failure (no_source) if there is none.
std::size_t named_tensor(const Model& model, const Typed& typed);

}  // namespace tensorfs
