#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/tensors/shard.hpp"

namespace tensorfs {

/// What has gone wrong with the shards since they were mounted: checks them before their bytes are
/// served, and logs once a shard what happened to it. Any thread may ask.
class Faults {
public:
    /// `shards` must outlive it and not move.
    explicit Faults(const std::vector<Shard>& shards)
        : shards_(shards), seen_(std::make_unique<std::atomic<const char*>[]>(shards.size())) {}

    /// Whether a shard is as it was when mounted: 0, or EIO.
    [[nodiscard]] int check(const Shard& shard) const noexcept;
    /// A shard's bytes could not be brought into memory. Answers EIO.
    int unreadable(const Shard& shard) const noexcept;

    /// A shard that gave errors, and what was first found to be wrong with it.
    struct Fault {
        const Shard* shard;
        const char* what;
    };
    /// In the order of the shards. Throws std::bad_alloc.
    [[nodiscard]] std::vector<Fault> seen() const;

private:
    void log_once(const Shard& shard, const char* what) const noexcept;

    const std::vector<Shard>& shards_;
    std::unique_ptr<std::atomic<const char*>[]> seen_;  // by shard; null where all is well
};

}  // namespace tensorfs
