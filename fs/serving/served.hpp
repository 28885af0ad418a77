#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "fs/options/options.hpp"
#include "fs/serving/negative_names.hpp"
#include "fs/serving/generations.hpp"
#include "fs/serving/stats_text.hpp"
#include "fs/statistics/stats.hpp"
#include "fs/volume/stat.hpp"

namespace tensorfs {

/// Why the source could not be taken up again when it was looked at last. Any thread may use it.
class LastFailure {
public:
    void set(std::string why) {
        const std::lock_guard lock(mutex_);
        why_ = std::move(why);
    }
    /// Empty if all was well.
    [[nodiscard]] std::string get() const {
        const std::lock_guard lock(mutex_);
        return why_;
    }

private:
    mutable std::mutex mutex_;
    std::string why_;
};

/// What the callbacks answer from: the session's user data.
struct Served {
    explicit Served(const MountOptions& how)
        : owner(how.owner), cache(how.cache), is_baseline(how.is_baseline), counts_opens(how.idle.count() != 0) {}

    const Owner owner;
    const Cache cache;
    const bool is_baseline;
    const bool counts_opens;  // the kernel is to say what is opened and closed

    Generations generations;
    Denied denied;  // names in the root, by whichever model
    Stats stats;
    StatsText stats_text;
    std::atomic<bool> is_forgetting_root{false};  // which waits for each listing of it that is under way
    std::atomic<std::int64_t> open_files{0};      // and folders, where that is counted
    std::atomic<std::uint64_t> reloads{0};        // the source was taken up again
    std::atomic<std::uint64_t> failed_reloads{0};
    LastFailure last_failure;
};

}  // namespace tensorfs
