#pragma once

#include <array>

#include "core/formats/formats.hpp"

// Formats by the names of their files alone: what a folder is taken for does not depend on how the files are read.

namespace tensorfs::tests {

inline constexpr Format named(std::string_view name, const FileNames& files) {
    return {name, files, nullptr, nullptr, nullptr};
}

inline constexpr std::array only_safetensors{named("safetensors", file_names::safetensors)};

inline constexpr std::array all_formats{named("safetensors", file_names::safetensors), named("gguf", file_names::gguf),
                                        named("pytorch", file_names::pytorch), named("numpy", file_names::numpy)};

}  // namespace tensorfs::tests
