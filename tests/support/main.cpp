#ifndef TENSORFS_CATCH_V3
#define CATCH_CONFIG_RUNNER
#endif
#include "tests/support/catch.hpp"

#ifdef TENSORFS_CATCH_V3
int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
#else
int main(int argc, char** argv) {
    const int failed = Catch::Session().run(argc, argv);
    if (failed != 0) return 1;  // Catch2 2 answers how many failed, which can be any number
    // As Catch2 3 does it. Under ctest each test case is a run of its own.
    constexpr int all_skipped = 4;
    return tensorfs::tests::skipped > 0 ? all_skipped : 0;
}
#endif
