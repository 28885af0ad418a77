#include "fs/statistics/busy.hpp"

#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

using namespace tensorfs;

namespace {

std::vector<std::size_t> tensors(const std::vector<Busy::Reads>& all) {
    std::vector<std::size_t> numbers;
    for (const Busy::Reads& reads : all) numbers.push_back(reads.tensor);
    return numbers;
}

}  // namespace

TEST_CASE("tensors that nobody reads are not among the busiest") {
    CHECK(Busy(0).busiest(10).empty());
    CHECK(Busy(1000).busiest(10).empty());
}

TEST_CASE("the busiest tensors are those of which most bytes were read, the first of equals first") {
    Busy busy(6);
    busy.count(1, 100);
    busy.count(1, 100);
    busy.count(3, 500);
    busy.count(4, 200);
    busy.count(5, 0);
    CHECK(tensors(busy.busiest(10)) == std::vector<std::size_t>{3, 1, 4, 5});
    CHECK(tensors(busy.busiest(2)) == std::vector<std::size_t>{3, 1});
    CHECK(busy.busiest(0).empty());
    CHECK(busy.busiest(10)[1].requests == 2);
    CHECK(busy.busiest(10)[1].nbytes == 200);
}

TEST_CASE("no READ is lost among threads") {
    Busy busy(2);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int j = 0; j < 10000; ++j) busy.count(1, 3);
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(busy.busiest(1)[0].requests == 40000);
    CHECK(busy.busiest(1)[0].nbytes == 120000);
}
