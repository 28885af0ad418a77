#include "fs/statistics/stats.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tensorfs {
namespace {

using namespace std::string_view_literals;

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, request_kinds> request_names{
    "lookup", "getattr", "open", "opendir", "readdir", "read", "getxattr", "listxattr", "statfs"};
constexpr std::array view_names{"tensors"sv, "files"sv, "flat"sv, "npy"sv, "f32"sv};
static_assert(view_names.size() == tensor_view_ids);

template <std::size_t size>
Json by_name(const std::array<std::string_view, size>& names,
             const std::array<std::atomic<std::uint64_t>, size>& counts) {
    Json all = Json::object();
    for (std::size_t i = 0; i < size; ++i) all[std::string(names[i])] = counts[i].load(std::memory_order_relaxed);
    return all;
}

double microseconds(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1000; }

}  // namespace

std::uint64_t Stats::uses() const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < request_kinds; ++i) {
        if (static_cast<Request>(i) != Request::statfs) sum += requests_[i].load(std::memory_order_relaxed);
    }
    return sum - looks_.load(std::memory_order_relaxed);
}

nlohmann::ordered_json Stats::json() const {
    const auto uptime = std::chrono::steady_clock::now() - start_;
    return {
        {"uptime_seconds", std::chrono::duration_cast<std::chrono::seconds>(uptime).count()},
        {"requests", by_name(request_names, requests_)},
        {"bytes", by_name(request_names, bytes_)},
        {"bytes_read", by_name(view_names, bytes_in_)},
        {"errors", errors_.load(std::memory_order_relaxed)},
        {"read_latency_us",
         {{"p50", microseconds(read_latency_.percentile(0.5))},
          {"p90", microseconds(read_latency_.percentile(0.9))},
          {"p99", microseconds(read_latency_.percentile(0.99))},
          {"p99.9", microseconds(read_latency_.percentile(0.999))},
          {"max", microseconds(read_latency_.longest())}}},
    };
}

}  // namespace tensorfs
