#pragma once

#include <atomic>
#include <cstdint>

#include "fs/options/options.hpp"
#include "fs/statistics/busy.hpp"
#include "fs/serving/faults.hpp"
#include "fs/paging/paging.hpp"
#include "fs/volume/volume.hpp"

namespace tensorfs {

/// A model that the mount shows, or has shown: its namespace, what serving it takes, and what the
/// kernel still knows of it. Any thread may use it.
class Generation {
public:
    /// Takes a model that is mapped. `serial` counts the mount's models from 0.
    Generation(Model model, const MountOptions& how, std::uint64_t serial)
        : volume(std::move(model), how.separators),
          faults(volume.model().shards()),
          paging(volume.model().shards(), how.cache, !how.is_baseline),
          busy(volume.model().tensors().size()),
          serial_(serial) {}

    const Volume volume;
    const Faults faults;
    Paging paging;
    Busy busy;

    [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
    /// Its number in node ids.
    [[nodiscard]] std::uint16_t number() const noexcept {
        return static_cast<std::uint16_t>(serial_ % NodeId::generations);
    }
    [[nodiscard]] std::uint64_t node_id(Inode inode) const noexcept { return NodeId{number(), inode}.number(); }

    // How often the kernel was told of a node of this model, less how often it has forgotten one. At 0
    // it knows of none but the root, which is no model's own.
    void learned(std::uint64_t times) noexcept { known_.fetch_add(times); }
    /// True if that was the last.
    bool forgotten(std::uint64_t times) noexcept { return known_.fetch_sub(times) == times; }
    [[nodiscard]] bool is_known() const noexcept { return known_.load() != 0; }

private:
    std::uint64_t serial_;
    std::atomic<std::uint64_t> known_{0};
};

}  // namespace tensorfs
