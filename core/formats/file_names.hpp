#pragma once

// How the files of each format are named where they lie in a folder. (What is made of that: core/sources/layout.hpp.)
// All formats stand here; a folder is searched only for those that have a row in formats.cpp.

#include <array>
#include <span>
#include <string_view>

namespace tensorfs {

/// What the word behind a base says of a model.
enum class Variants {
    words,          // BASE.fp16: a precision, or which weights of a training; files without one are the model itself
    quantisations,  // BASE-Q4_K_M or BASE.Q4_K_M, in any case: models of equal rank
};

/// In patterns, '*' stands for any text and '#' for a digit; case does not count.
struct FileNames {
    std::span<const std::string_view> suffixes;       // whatever has one is of the format
    std::string_view shared_suffix = {};              // of much else too: it counts behind a base, or in an index
    std::string_view indexed = {};                    // BASE + this + ".index.json" names shards; "": there is no index
    std::string_view joined = {};                     // single files with this suffix are one model together
    std::span<const std::string_view> bases = {};     // of several models the first of these is meant
    std::span<const std::string_view> sidecars = {};  // patterns: what lies beside models, and is shown if alone
    std::span<const std::string_view> others = {};    // patterns: what is no model unless its path is given
    std::string_view pieces = {};                     // a pattern: files that each hold a piece of the same tensors
    bool first_is_all = false;                        // the path of a split's first part stands for the split
    Variants variants = Variants::words;
};

namespace file_names {

namespace lists {

inline constexpr std::array<std::string_view, 1> safetensors_suffixes{".safetensors"};
inline constexpr std::array<std::string_view, 5> safetensors_bases{"model", "diffusion_pytorch_model", "consolidated",
                                                                   "adapter_model", "pytorch_lora_weights"};

inline constexpr std::array<std::string_view, 1> gguf_suffixes{".gguf"};
/// Projectors, draft heads for multi-token prediction, vocabularies, importance matrices and adapters.
inline constexpr std::array<std::string_view, 7> gguf_sidecars{"mmproj*",  "*-mmproj*", "mtp-*",  "ggml-vocab-*",
                                                               "imatrix*", "*imatrix",  "*-lora*"};

inline constexpr std::array<std::string_view, 3> pytorch_suffixes{".pt", ".pth", ".ckpt"};
inline constexpr std::array<std::string_view, 5> pytorch_bases{
    "pytorch_model", "diffusion_pytorch_model", "open_clip_pytorch_model", "adapter_model", "pytorch_lora_weights"};
/// The state of a training.
inline constexpr std::array<std::string_view, 5> pytorch_others{"training_args", "optimizer", "scheduler", "scaler",
                                                                "rng_state*"};

inline constexpr std::array<std::string_view, 2> numpy_suffixes{".npz", ".npy"};
inline constexpr std::array<std::string_view, 1> numpy_bases{"weights"};

}  // namespace lists

inline constexpr FileNames safetensors{
    .suffixes = lists::safetensors_suffixes,
    .indexed = ".safetensors",
    .joined = ".safetensors",
    .bases = lists::safetensors_bases,
};

inline constexpr FileNames gguf{
    .suffixes = lists::gguf_suffixes,
    .sidecars = lists::gguf_sidecars,
    .first_is_all = true,  // as for llama.cpp
    .variants = Variants::quantisations,
};

inline constexpr FileNames pytorch{
    .suffixes = lists::pytorch_suffixes,
    .shared_suffix = ".bin",
    .indexed = ".bin",
    .bases = lists::pytorch_bases,
    .others = lists::pytorch_others,
    .pieces = "consolidated.##",
};

inline constexpr FileNames numpy{
    .suffixes = lists::numpy_suffixes,
    .joined = ".npy",
    .bases = lists::numpy_bases,
};

/// Also of formats that are not read: their indexes are not taken for ours.
inline constexpr std::array all{&safetensors, &gguf, &pytorch, &numpy};

}  // namespace file_names
}  // namespace tensorfs
