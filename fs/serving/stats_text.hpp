#pragma once

#include <cstddef>
#include <mutex>
#include <string>

namespace tensorfs {

struct Served;

/// The value of user.tensorfs.stats: one line of JSON with all that stats.hpp counts, the tensors that
/// most is read of, the shards that gave errors, memory, and the models that are held. Any thread may ask.
/// Throws std::bad_alloc.
class StatsText {
public:
    [[nodiscard]] static std::string make(const Served& from);

    /// The same for getxattr's two calls: the first asks for the size with `size` 0, the second
    /// must fit it, though the counters have moved on. If the text has outgrown `size`, this is the
    /// one that was last measured.
    [[nodiscard]] std::string to_fit(const Served& from, std::size_t size) const;

private:
    mutable std::mutex mutex_;
    mutable std::string measured_;
};

}  // namespace tensorfs
