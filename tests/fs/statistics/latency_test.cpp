#include "fs/statistics/latency.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"

using namespace tensorfs;
using namespace std::chrono_literals;

TEST_CASE("where nothing was counted, all times are 0") {
    const Latency latency;
    CHECK(latency.total() == 0);
    CHECK(latency.percentile(0.5) == 0ns);
    CHECK(latency.percentile(1) == 0ns);
    CHECK(latency.longest() == 0ns);
}

TEST_CASE("a single time is every percentile") {
    for (const auto time : {0ns, 1ns, 7ns, 8ns, 9ns, 1000ns, 123'456'789ns, std::chrono::nanoseconds(1h),
                            std::chrono::nanoseconds::max()}) {
        Latency latency;
        latency.count(time);
        for (const double share : {0.0, 0.5, 0.999, 1.0}) CHECK(latency.percentile(share) == time);
    }
}

TEST_CASE("a time before its start, of a clock that was set back, counts as none") {
    Latency latency;
    latency.count(-5ns);
    CHECK(latency.total() == 1);
    CHECK(latency.longest() == 0ns);
}

TEST_CASE("a percentile is never less than the exact one, and at most an eighth more") {
    std::mt19937_64 random(1);
    for (int round = 0; round < 50; ++round) {
        Latency latency;
        std::vector<std::int64_t> times;
        const auto count = static_cast<std::size_t>(random() % 1000 + 1);
        for (std::size_t i = 0; i < count; ++i) {
            times.push_back(static_cast<std::int64_t>(random() >> (random() % 62 + 2)));
            latency.count(std::chrono::nanoseconds(times.back()));
        }
        std::sort(times.begin(), times.end());
        for (const double share : {0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
            const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(count))) - 1;
            const std::int64_t exact = times[place];
            const std::int64_t found = latency.percentile(share).count();
            CHECK(found >= exact);
            CHECK(found - exact <= exact / 8);
        }
        CHECK(latency.longest().count() == times.back());
        CHECK(latency.total() == count);
    }
}
