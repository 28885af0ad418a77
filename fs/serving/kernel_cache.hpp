#pragma once

#include <cstdint>
#include <string_view>

namespace tensorfs {

/// What the kernel has cached of a mount, as far as it can be told to forget it. Thread-safe, but not for a thread that
/// answers a request: the kernel waits for requests under way before it forgets a name. Once the mount is ending, all
/// return at once.
class KernelCache {
public:
    virtual ~KernelCache() = default;

    /// Makes the kernel forget the root's listing and attributes.
    virtual void forget_root() = 0;
    /// Whether the kernel knows a node; if so, it forgets the node's attributes.
    [[nodiscard]] virtual bool knows(std::uint64_t node_id) = 0;
    /// Makes the kernel forget a name in a folder, and the node it leads to once nobody uses that. When it returns, all
    /// lookups and listings that were under way in the folder have finished.
    virtual void forget_name(std::uint64_t folder, std::string_view name) noexcept = 0;
};

}  // namespace tensorfs
