#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/gguf/keys.hpp"
#include "core/formats/header.hpp"

namespace tensorfs::gguf {

/// Why llama.cpp, which is stricter than the rules here, would not load a file that keeps these: a sentence for a note;
/// "" where nothing stands against it. Entries are in the order of the file.
std::string why_llama_cpp_would_not(const Header& header, const std::vector<HeaderEntry>& entries, const Keys& keys);

}  // namespace tensorfs::gguf
