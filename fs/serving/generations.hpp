#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "fs/serving/generation.hpp"

namespace tensorfs {

/// The models that a mount holds: the one it shows, and those before it of which the kernel still knows
/// a node: an open file, a folder that a process is in. Each is let go when the kernel has forgotten the
/// last of them. Any thread may use it.
class Generations {
public:
    /// Nothing may be asked before the first is shown.
    Generations() = default;

    /// The model that is shown.
    [[nodiscard]] std::shared_ptr<Generation> current() const;
    /// The model that a node id belongs to, kept as long as the pointer is held: for the root the one that
    /// is shown. Null if there is none: a number from before, by way of an NFS handle.
    [[nodiscard]] std::shared_ptr<Generation> of(NodeId node) const;
    /// The model whose node ids carry that number; null if there is none.
    [[nodiscard]] std::shared_ptr<Generation> numbered(std::uint16_t number) const;
    /// Those that are not shown any more.
    [[nodiscard]] std::vector<std::shared_ptr<Generation>> old() const;
    [[nodiscard]] bool is_current(const Generation& generation) const;
    /// How many are held.
    [[nodiscard]] std::size_t size() const;

    /// The first serial number from `wanted` on whose node ids no model that is held has.
    [[nodiscard]] std::uint64_t free_serial(std::uint64_t wanted) const;
    /// Shows another model from now on. Whoever asked for the root before may still be given the old one.
    void show(std::shared_ptr<Generation> next);
    /// Lets go of models that the kernel knows nothing of. To be called when no request is under way any
    /// more that was made of the root before show(), and when the kernel has forgotten nodes.
    void sweep();
    /// The kernel has forgotten a node as often as that.
    void forget(NodeId node, std::uint64_t times);

private:
    mutable std::shared_mutex mutex_;
    std::vector<std::shared_ptr<Generation>> held_;  // the one that is shown is the last
    std::uint64_t swept_ = 0;  // the serial number up to which, exclusively, old models may be let go
};

}  // namespace tensorfs
