#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "fs/options/options.hpp"
#include "fs/paging/paging.hpp"
#include "fs/serving/faults.hpp"
#include "fs/statistics/busy.hpp"
#include "fs/volume/volume.hpp"

namespace tensorfs {

/// A model that the mount shows or has shown: its namespace, what serving it takes, and how often the kernel has
/// looked it up. Thread-safe.
class Generation {
public:
    /// Takes a mapped model. `serial` counts the mount's generations from 0.
    Generation(Model model, const MountOptions& options, std::uint64_t serial)
        : volume(std::move(model), options.separators),
          faults(volume.model().shards()),
          paging(volume.model().shards(), options.cache, options.order, !options.is_baseline),
          busy(volume.model().tensors().size()),
          serial_(serial) {}

    const Volume volume;
    const Faults faults;
    Paging paging;
    Busy busy;

    [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
    /// The serial number as far as a node id holds it, in 15 bits.
    [[nodiscard]] std::uint16_t tag() const noexcept {
        return static_cast<std::uint16_t>(serial_ % NodeId::generations);
    }
    [[nodiscard]] std::uint64_t node_id(Inode inode) const noexcept { return NodeId{tag(), inode}.number(); }

    // The sum of FUSE lookup counts over all nodes of this generation but the root, which belongs to none. At 0 the
    // kernel knows none of its nodes.
    void add_lookups(std::uint64_t count) noexcept { lookups_.fetch_add(count); }
    /// True if that leaves 0.
    bool drop_lookups(std::uint64_t count) noexcept { return lookups_.fetch_sub(count) == count; }
    [[nodiscard]] bool is_known_to_kernel() const noexcept { return lookups_.load() != 0; }

private:
    std::uint64_t serial_;
    std::atomic<std::uint64_t> lookups_{0};
};

}  // namespace tensorfs
