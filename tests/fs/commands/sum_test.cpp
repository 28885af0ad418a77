// `tensorfs sum`; what sha256sum makes of it in a mount: tests/mount/tree/everyday_tools_test.cpp.

#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs::tests;

TEST_CASE("sum follows the separators of the mount that it is for, and names no standard input") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"-", "U8", {0}, ""}, {"a.b", "U8", {0}, ""}}));
    const std::string none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    CHECK(run_program({"sum", folder / "m.safetensors"}).out == none + "  ./-\n" + none + "  a/b\n");
    CHECK(run_program({"sum", folder / "m.safetensors", "-o", "separators="}).out ==
          none + "  ./-\n" + none + "  a.b\n");
}

TEST_CASE("sum prints a line for each tensor as sha256sum does, in the order of the tree") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors",
               safetensors_file({{"b.10", "U8", {3}, "abc"}, {"b.2", "U8", {0}, ""}, {"a\\b", "U8", {3}, "abc"}}));
    const Outcome sums = run_program({"sum", folder / "m.safetensors"});
    CHECK(sums.code == 0);
    CHECK(sums.out ==
          "\\ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\\\\b\n"
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b/2\n"
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b/10\n");
}
