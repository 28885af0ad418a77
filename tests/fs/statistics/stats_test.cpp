#include "fs/statistics/stats.hpp"

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

using namespace tensorfs;

using Json = nlohmann::ordered_json;

TEST_CASE("a new mount has counted nothing") {
    const Json all = Stats().json();
    CHECK(all.at("errors") == 0);
    CHECK(all.at("uptime_seconds") == 0);
    REQUIRE(all.at("requests").size() == request_kinds);
    REQUIRE(all.at("bytes").size() == request_kinds);
    REQUIRE(all.at("bytes_read").size() == 5);
    for (const char* counts : {"requests", "bytes", "bytes_read", "read_latency_us"}) {
        for (const Json& count : all.at(counts)) CHECK(count == 0);
    }
}

TEST_CASE("each kind of request is counted under its name") {
    Stats stats;
    int times = 0;
    for (const Request kind : {Request::lookup, Request::getattr, Request::open, Request::opendir, Request::readdir,
                               Request::read, Request::getxattr, Request::listxattr, Request::statfs}) {
        ++times;
        for (int i = 0; i < times; ++i) {
            stats.count(kind);
            stats.count_bytes(kind, 100);
        }
    }
    stats.count_error();
    const Json all = stats.json();
    CHECK(all.at("requests") == Json{{"lookup", 1},
                                     {"getattr", 2},
                                     {"open", 3},
                                     {"opendir", 4},
                                     {"readdir", 5},
                                     {"read", 6},
                                     {"getxattr", 7},
                                     {"listxattr", 8},
                                     {"statfs", 9}});
    for (const auto& [kind, requests] : all.at("requests").items()) {
        CHECK(all.at("bytes").at(kind) == requests.get<int>() * 100);
    }
    CHECK(all.at("errors") == 1);
}

TEST_CASE("bytes that were read are counted by the view in which they were, and all together") {
    Stats stats;
    std::uint64_t bytes = 1;
    for (const View view : {View::raw, View::hidden, View::flat, View::npy, View::f32}) {
        stats.count_bytes(view, bytes);
        bytes <<= 10;
    }
    const Json all = stats.json();
    CHECK(
        all.at("bytes_read") ==
        Json{{"tensors", 1}, {"files", 1 << 10}, {"flat", 1 << 20}, {"npy", 1 << 30}, {"f32", std::uint64_t{1} << 40}});
    CHECK(all.at("bytes").at("read") == (std::uint64_t{1} << 40) + (1 << 30) + (1 << 20) + (1 << 10) + 1);
}

TEST_CASE("who asks for the space or for attributes of the root does not use the mount") {
    Stats stats;
    stats.count(Request::statfs);
    stats.count(Request::getxattr);
    stats.count_look();
    CHECK(stats.uses() == 0);
    stats.count(Request::getxattr);
    stats.count(Request::readdir);
    CHECK(stats.uses() == 2);
}

TEST_CASE("no count is lost among threads") {
    Stats stats;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int j = 0; j < 10000; ++j) {
                stats.count(Request::read);
                stats.count_bytes(View::raw, 3);
                stats.count_error();
                stats.read_latency().count(std::chrono::nanoseconds(j));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    const Json all = stats.json();
    CHECK(all.at("requests").at("read") == 40000);
    CHECK(all.at("bytes_read").at("tensors") == 120000);
    CHECK(all.at("errors") == 40000);
    CHECK(stats.read_latency().total() == 40000);
}
