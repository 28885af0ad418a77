#pragma once

#include <cstdint>
#include <string_view>

#include "core/formats/gguf/window.hpp"
#include "core/formats/metadata.hpp"
#include "core/tensors/shard.hpp"

namespace tensorfs::gguf {

// The keys that the reader itself follows.
inline constexpr std::string_view alignment_key = "general.alignment";
inline constexpr std::string_view split_number_key = "split.no";
inline constexpr std::string_view split_count_key = "split.count";
inline constexpr std::string_view split_tensors_key = "split.tensors.count";

/// How many of them a file claims to have.
struct Counts {
    std::uint64_t tensors, keys;
};

/// Rules 1 to 3: what comes before the first key. `shard` is what the window reads. Throws Error.
Counts read_counts(Window& window, const Shard& shard);

/// What is read before the first tensor's info.
struct Keys {
    Metadata metadata;
    std::uint64_t alignment = 32;
    std::uint64_t nested_arrays = 0;  // keys whose value is an array of arrays
};

/// Rules 4 and 5, over so many keys and their values; of the metadata, what is to be. Throws Error.
Keys read_keys(Window& window, std::uint64_t count, Keep keep);

}  // namespace tensorfs::gguf
