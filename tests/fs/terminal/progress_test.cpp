#include "fs/terminal/progress.hpp"

#include "tests/support/catch.hpp"

using namespace tensorfs;
using Seconds = std::chrono::duration<double>;

TEST_CASE("a time is minutes and seconds, with hours where there are some") {
    CHECK(clock_time(Seconds(0)) == "0:00");
    CHECK(clock_time(Seconds(-1)) == "0:00");
    CHECK(clock_time(Seconds(7.4)) == "0:07");
    CHECK(clock_time(Seconds(59.6)) == "1:00");
    CHECK(clock_time(Seconds(3723)) == "1:02:03");
}

TEST_CASE("progress is told as a share, bytes, rate and time left") {
    CHECK(progress_line(0, 1000, Seconds(0)) == "0 %, 0 bytes of 1.0 kB");
    CHECK(progress_line(500, 1000, Seconds(0)) == "50 %, 500 bytes of 1.0 kB");
    CHECK(progress_line(500'000, 2'000'000, Seconds(2)) == "25 %, 500.0 kB of 2.0 MB, 250.0 kB/s, 0:06 left");
    CHECK(progress_line(1000, 1000, Seconds(1)) == "100 %, 1.0 kB of 1.0 kB, 1.0 kB/s");
}

TEST_CASE("progress over nothing, and beyond what was announced, is told all the same") {
    CHECK(progress_line(0, 0, Seconds(1)) == "100 %, 0 bytes of 0 bytes");
    CHECK(progress_line(2000, 1000, Seconds(1)) == "200 %, 2.0 kB of 2.0 kB, 2.0 kB/s");
}

TEST_CASE("what several threads have done adds up") {
    Progress progress("test", 300);
    progress.add(100);
    progress.add(200);
    CHECK(progress.done() == 300);
    progress.finish();
}
