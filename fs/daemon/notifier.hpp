#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "fs/serving/fuse.hpp"
#include "fs/serving/kernel_cache.hpp"

namespace tensorfs {

/// Tells the kernel by FUSE notifications what to forget. A notification can wait for requests under way, and with them
/// for a shard's disk. The thread that waits can be neither joined nor killed until they are answered or the connection
/// ends, so a mount that ends needs end() first.
class Notifier final : public KernelCache {
public:
    /// `session` must outlive it.
    explicit Notifier(fuse_session* session) : session_(session) {}

    void forget_root() override;
    [[nodiscard]] bool knows(std::uint64_t node_id) override;
    void forget_name(std::uint64_t folder, std::string_view name) noexcept override;

    /// Begins no more notifications, and waits up to `patience` for those under way.
    void end(std::chrono::milliseconds patience);
    /// Whether a notification is under way.
    [[nodiscard]] bool is_notifying() const noexcept { return notifying_.load() != 0; }

private:
    template <typename Notify>
    int notify(const Notify& notify);

    fuse_session* session_;
    // A thread counts itself in notifying_ before it looks at is_ending_, and end() sets is_ending_ before it looks at
    // notifying_: no notification begins unseen.
    std::atomic<bool> is_ending_{false};
    std::atomic<unsigned> notifying_{0};  // threads
};

}  // namespace tensorfs
