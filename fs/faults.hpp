#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/shard.hpp"

namespace tensorfs {

/// What has gone wrong with the shards since they were mounted: checks them before their bytes are
/// served, and logs once a shard what happened to it. Any thread may ask.
class Faults {
public:
    /// `shards` must outlive it and not move.
    explicit Faults(const std::vector<Shard>& shards)
        : shards_(shards), logged_(std::make_unique<std::atomic<bool>[]>(shards.size())) {}

    /// Makes sure that a range of a shard is as it was when mounted and in memory, so that it can be
    /// sent. 0, or EIO.
    [[nodiscard]] int prepare(const Shard& shard, std::uint64_t offset, std::uint64_t nbytes) const noexcept;

    /// How many shards have been complained about.
    [[nodiscard]] std::size_t count() const noexcept;

private:
    void log_once(const Shard& shard, const char* what) const noexcept;

    const std::vector<Shard>& shards_;
    std::unique_ptr<std::atomic<bool>[]> logged_;
};

}  // namespace tensorfs
