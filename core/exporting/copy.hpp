#pragma once

#include <cstdint>
#include <vector>

#include "core/exporting/output_file.hpp"
#include "core/exporting/watch.hpp"
#include "core/tensors/shard.hpp"
#include "core/views/model_file.hpp"

namespace tensorfs {

/// What was learned of the tensors on the way, by their positions in ModelFile::places.
struct Copied {
    std::vector<std::uint32_t> checksums;  // CRC-32 of their elements; empty unless asked for
    std::vector<std::uint64_t> overflows;  // numbers that became infinities
};

/// Writes the elements of a file's tensors to their places, in parallel; nothing else of it. Takes some MiB a thread.
/// Throws Error where a shard's bytes are not to be had, or it was changed since it was opened; TargetError;
/// ExportStopped.
Copied copy_tensors(const ModelFile& file, const std::vector<Shard>& shards, const OutputFile& out, bool with_checksums,
                    const ExportWatch& watch);

/// Writes what of a file we made: all but the tensors' elements. Throws TargetError.
void write_made(const ModelFile& file, const OutputFile& out);

}  // namespace tensorfs
