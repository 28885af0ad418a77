#include "fs/stats.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

namespace tensorfs {
namespace {

constexpr std::array<std::string_view, request_kinds> names{"lookup",   "getattr",   "readdir", "read",
                                                            "getxattr", "listxattr", "statfs"};

}  // namespace

std::string Stats::json() const {
    nlohmann::ordered_json requests = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < names.size(); ++i)
        requests[std::string(names[i])] = requests_[i].load(std::memory_order_relaxed);
    const nlohmann::ordered_json all{
        {"uptime_seconds",
         std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_).count()},
        {"requests", std::move(requests)},
        {"bytes_read", bytes_read_.load(std::memory_order_relaxed)},
        {"errors", errors_.load(std::memory_order_relaxed)},
    };
    return all.dump();
}

std::string Stats::json_to_fit(std::size_t size) const {
    std::string now = json();
    const std::lock_guard lock(mutex_);
    if (size == 0) {
        measured_ = now;
    } else if (now.size() > size && !measured_.empty() && measured_.size() <= size) {
        return measured_;
    }
    return now;
}

}  // namespace tensorfs
