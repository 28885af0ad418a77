#include "fs/stats.hpp"

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

using namespace tensorfs;

using Json = nlohmann::json;

TEST_CASE("a new mount has counted nothing") {
    const Json all = Json::parse(Stats().json());
    CHECK(all.at("bytes_read") == 0);
    CHECK(all.at("errors") == 0);
    CHECK(all.at("uptime_seconds") == 0);
    REQUIRE(all.at("requests").size() == request_kinds);
    for (const Json& count : all.at("requests")) CHECK(count == 0);
}

TEST_CASE("each kind of request is counted under its name") {
    Stats stats;
    int times = 0;
    for (const Request kind : {Request::lookup, Request::getattr, Request::readdir, Request::read, Request::getxattr,
                               Request::listxattr, Request::statfs}) {
        ++times;
        for (int i = 0; i < times; ++i) stats.count(kind);
    }
    stats.count_bytes(1000);
    stats.count_bytes(std::uint64_t{1} << 40);
    stats.count_error();
    const Json all = Json::parse(stats.json());
    CHECK(all.at("requests") == Json{{"lookup", 1},
                                     {"getattr", 2},
                                     {"readdir", 3},
                                     {"read", 4},
                                     {"getxattr", 5},
                                     {"listxattr", 6},
                                     {"statfs", 7}});
    CHECK(all.at("bytes_read") == (std::uint64_t{1} << 40) + 1000);
    CHECK(all.at("errors") == 1);
}

TEST_CASE("the counters are one line") { CHECK(Stats().json().find('\n') == std::string::npos); }

TEST_CASE("no count is lost among threads") {
    Stats stats;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int j = 0; j < 10000; ++j) {
                stats.count(Request::read);
                stats.count_bytes(3);
                stats.count_error();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    const Json all = Json::parse(stats.json());
    CHECK(all.at("requests").at("read") == 40000);
    CHECK(all.at("bytes_read") == 120000);
    CHECK(all.at("errors") == 40000);
}

TEST_CASE("whoever guesses the size without measuring gets all of it, not what nobody measured") {
    CHECK(Stats{}.json_to_fit(128).size() > 128);
}

TEST_CASE("what getxattr measured fits when it is fetched, though the counters have moved on") {
    Stats stats;
    const std::size_t size = stats.json_to_fit(0).size();
    for (int i = 0; i < 12345; ++i) stats.count(Request::getxattr);
    REQUIRE(stats.json().size() > size);
    const std::string fetched = stats.json_to_fit(size);
    CHECK(fetched.size() <= size);
    CHECK(Json::parse(fetched).at("requests").at("getxattr") == 0);
    CHECK(Json::parse(stats.json_to_fit(4096)).at("requests").at("getxattr") == 12345);
}
