#pragma once

#include <cstddef>
#include <mutex>
#include <string>

namespace tensorfs {

/// A text that changes with each look, fitted to getxattr's two calls: the first asks for its size, with `size` 0, and
/// the second must fit that size though the text may have grown. Thread-safe.
class MeasuredText {
public:
    /// Returns `now`; or, if that has outgrown `size`, the text that was last measured, if that fits.
    [[nodiscard]] std::string to_fit(std::string now, std::size_t size) {
        const std::lock_guard lock(mutex_);
        if (size == 0) {
            measured_ = now;
        } else if (now.size() > size && !measured_.empty() && measured_.size() <= size) {
            return measured_;
        }
        return now;
    }

private:
    std::mutex mutex_;
    std::string measured_;
};

}  // namespace tensorfs
