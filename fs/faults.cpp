#include "fs/faults.hpp"

#include <algorithm>
#include <cerrno>

#include "core/escape.hpp"
#include "fs/log.hpp"

namespace tensorfs {

int Faults::check(const Shard& shard) const noexcept {
    switch (shard.state()) {
        case Shard::State::unchanged: break;
        case Shard::State::changed: log_once(shard, "it was changed since it was mounted"); return EIO;
        case Shard::State::unreachable: log_once(shard, "its filesystem does not answer"); return EIO;
    }
    return 0;
}

int Faults::unreadable(const Shard& shard) const noexcept {
    log_once(shard, "its bytes cannot be read");
    return EIO;
}

std::size_t Faults::count() const noexcept {
    return static_cast<std::size_t>(std::count_if(logged_.get(), logged_.get() + shards_.size(),
                                                  [](const std::atomic<bool>& logged) { return logged.load(); }));
}

void Faults::log_once(const Shard& shard, const char* what) const noexcept {
    if (logged_[static_cast<std::size_t>(&shard - shards_.data())].exchange(true)) return;
    try {
        spdlog::error("{}: {}: reading it gives input/output errors", printable(shard.path()), what);
    } catch (...) {  // no memory for a line of log: the errno tells the reader
    }
}

}  // namespace tensorfs
