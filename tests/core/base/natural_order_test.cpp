#include "core/base/natural_order.hpp"

#include "tests/support/catch.hpp"

using namespace tensorfs;

TEST_CASE("numbers count as numbers, wherever they stand") {
    CHECK(natural_less("layers.2", "layers.10"));
    CHECK(natural_less("2", "10"));
    CHECK(natural_less("a9b10", "a10b2"));
    CHECK(natural_less("18446744073709551616", "18446744073709551617"));
    CHECK(natural_less("x99999999999999999999999", "x100000000000000000000000"));
}

TEST_CASE("the order is total: only equal texts are equal") {
    CHECK(natural_compare("a7", "a7") == 0);
    CHECK(natural_compare("a7", "a007") != 0);
    CHECK(natural_less("a7", "a007") != natural_less("a007", "a7"));
    CHECK(natural_less("a", "ab"));
    CHECK(natural_less("", "a"));
    CHECK(natural_less("a07b1", "a7b2"));
}

TEST_CASE("other bytes are compared without sign") {
    CHECK(natural_less("a", "\xC3\xA9"));
    CHECK(natural_less("Z", "a"));
}
