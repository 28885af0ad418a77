#include "fs/serving/faults.hpp"

#include <cerrno>

#include "core/base/escape.hpp"
#include "fs/terminal/log.hpp"

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

std::vector<Faults::Fault> Faults::seen() const {
    std::vector<Fault> all;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        if (const char* const what = seen_[i].load()) all.push_back({&shards_[i], what});
    }
    return all;
}

void Faults::log_once(const Shard& shard, const char* what) const noexcept {
    const char* nothing = nullptr;
    if (!seen_[static_cast<std::size_t>(&shard - shards_.data())].compare_exchange_strong(nothing, what)) return;
    try {
        spdlog::error("{}: {}: reading it gives input/output errors", printable(shard.path()), what);
    } catch (...) {  // no memory for a line of log: the reader has the errno
    }
}

}  // namespace tensorfs
