#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "fs/options/options.hpp"
#include "fs/serving/generations.hpp"
#include "fs/serving/negative_names.hpp"
#include "fs/statistics/measured_text.hpp"
#include "fs/statistics/stats.hpp"
#include "fs/volume/stat.hpp"

namespace tensorfs {

/// Why the last reload failed. Thread-safe.
class LastFailure {
public:
    void set(std::string why) {
        const std::lock_guard lock(mutex_);
        why_ = std::move(why);
    }
    /// Empty if it did not fail.
    [[nodiscard]] std::string get() const {
        const std::lock_guard lock(mutex_);
        return why_;
    }

private:
    mutable std::mutex mutex_;
    std::string why_;
};

/// What the callbacks answer from: the FUSE session's user data. Any thread may use it.
struct Served {
    explicit Served(const MountOptions& options)
        : owner(options.owner),
          cache(options.cache),
          max_read(options.max_read),
          is_baseline(options.is_baseline),
          counts_opens(options.idle.count() != 0) {}

    const Owner owner;
    const Cache cache;
    const unsigned max_read;  // as the mount option has it, in bytes; 0 without
    const bool is_baseline;
    const bool counts_opens;  // so the kernel must send OPEN and RELEASE

    Generations generations;
    NegativeNames negative_names;  // of any generation's root
    Stats stats;
    MeasuredText stats_text;                      // as user.tensorfs.stats was measured
    std::atomic<bool> is_forgetting_root{false};  // the kernel is told to, which waits for each listing of the root
    std::atomic<std::int64_t> open_files{0};      // files and folders, if counts_opens
    std::atomic<std::uint64_t> reloads{0};        // that brought another model
    std::atomic<std::uint64_t> failed_reloads{0};
    LastFailure last_failure;
};

}  // namespace tensorfs
