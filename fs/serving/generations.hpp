#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "fs/serving/generation.hpp"

namespace tensorfs {

/// The generations that a mount holds: the current one, which its root shows, and old ones of which the kernel still
/// knows a node, such as an open file or a process's working folder. An old one is freed when the kernel has forgotten
/// its last node. Thread-safe. REQUIRES of all but show(): a generation was shown.
class Generations {
public:
    Generations() = default;

    [[nodiscard]] std::shared_ptr<Generation> current() const;
    /// The generation of a node id, which lives as long as the pointer is held; for the root, the current one. Null if
    /// it was freed: an NFS handle can outlive what the kernel knows.
    [[nodiscard]] std::shared_ptr<Generation> of(NodeId node) const;
    /// The generation held that has this tag, or null.
    [[nodiscard]] std::shared_ptr<Generation> tagged(std::uint16_t tag) const;
    /// All but the current one.
    [[nodiscard]] std::vector<std::shared_ptr<Generation>> old() const;
    [[nodiscard]] bool is_current(const Generation& generation) const;
    /// How many are held.
    [[nodiscard]] std::size_t size() const;

    /// The first serial number from `wanted` on whose tag no generation held has.
    [[nodiscard]] std::uint64_t free_serial(std::uint64_t wanted) const;
    /// Makes `next` the current one. A request that resolved the root before may still be working on the old one.
    void show(std::shared_ptr<Generation> next);
    /// Frees the old generations that the kernel does not know. Call it only after the requests that resolved the root
    /// before show() have finished; it also lets forget() free old generations from then on.
    void sweep();
    /// The kernel has dropped so many lookups of a node.
    void forget(NodeId node, std::uint64_t count);

private:
    mutable std::shared_mutex mutex_;
    std::vector<std::shared_ptr<Generation>> held_;  // the current one is the last
    std::uint64_t swept_ = 0;                        // forget() may free generations of lower serial numbers
};

}  // namespace tensorfs
