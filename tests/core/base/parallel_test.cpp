#include "core/base/parallel.hpp"

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

using namespace tensorfs;

TEST_CASE("each piece of work is done once, and all is done on return") {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{10000}}) {
        std::vector<std::atomic<int>> done(count);
        in_parallel(count, [&](std::size_t i) { ++done.at(i); });
        std::size_t once = 0;
        for (const auto& times : done) once += times == 1 ? 1 : 0;
        CHECK(once == count);
    }
}

TEST_CASE("an exception is thrown again, after all threads have stopped") {
    std::atomic<int> inside{0};
    const auto work = [&](std::size_t i) {
        ++inside;
        std::atomic<int> busy{0};
        while (busy < 2000) ++busy;  // long enough for others to be under way when one fails
        --inside;
        if (i == 7) throw std::runtime_error("number 7");
    };
    std::string text;
    try {
        in_parallel(1000, work);
    } catch (const std::runtime_error& e) {
        text = e.what();
    }
    CHECK(text == "number 7");
    CHECK(inside == 0);
}

TEST_CASE("as many threads as are asked for work at once") {
    // Each waits until all are there: with fewer, this would never end.
    std::atomic<int> there{0};
    in_parallel(
        5,
        [&](std::size_t) {
            ++there;
            while (there < 5) std::this_thread::yield();
        },
        5);
    CHECK(there == 5);
}

TEST_CASE("only one of several exceptions is thrown") {
    CHECK_THROWS_AS(in_parallel(1000, [](std::size_t) { throw std::runtime_error("each"); }), std::runtime_error);
}

TEST_CASE("work that has not begun when another fails is left out") {
    // Were it not, this would take years.
    CHECK_THROWS_AS(in_parallel(SIZE_MAX / 2,
                                [](std::size_t i) {
                                    if (i == 3) throw std::runtime_error("enough");
                                }),
                    std::runtime_error);
}
