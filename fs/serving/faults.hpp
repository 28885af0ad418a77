#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/tensors/shard.hpp"

namespace tensorfs {

/// Checks shards before their bytes are served, remembers what has gone wrong with them since they were mounted, and
/// logs the first fault of each. Thread-safe.
class Faults {
public:
    /// `shards` must outlive it and not move.
    explicit Faults(const std::vector<Shard>& shards)
        : shards_(shards), seen_(std::make_unique<std::atomic<const char*>[]>(shards.size())) {}

    /// 0 if a shard is unchanged since it was mounted, else EIO.
    [[nodiscard]] int check(const Shard& shard) const noexcept;
    /// Notes that a shard's bytes could not be read. Returns EIO.
    int unreadable(const Shard& shard) const noexcept;

    /// A shard that gave errors, and the first of them.
    struct Fault {
        const Shard* shard;
        const char* what;
    };
    /// In the order of the shards. Throws std::bad_alloc.
    [[nodiscard]] std::vector<Fault> seen() const;

private:
    void log_once(const Shard& shard, const char* what) const noexcept;

    const std::vector<Shard>& shards_;
    std::unique_ptr<std::atomic<const char*>[]> seen_;  // by shard; null if it gave no error
};

}  // namespace tensorfs
