#pragma once

// Catch2, version 2 (Debian 12) or 3, under one name. TENSORFS_CATCH_V3 is set by CMake.

#ifdef TENSORFS_CATCH_V3
#include <catch2/catch_all.hpp>
#define SKIP_TEST(reason) SKIP(reason)
#else
#include <catch2/catch.hpp>

namespace tensorfs::tests {
/// How many test cases were skipped; main.cpp turns a run of nothing else into exit code 4.
inline int skipped = 0;
}  // namespace tensorfs::tests

/// Ends a test case that cannot run here, saying why: ctest counts it as skipped.
#define SKIP_TEST(reason)                                      \
    do {                                                       \
        ++tensorfs::tests::skipped;                            \
        Catch::cout() << "skipped: " << (reason) << std::endl; \
        return;                                                \
    } while (false)
#endif
