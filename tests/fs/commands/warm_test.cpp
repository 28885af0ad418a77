// `tensorfs warm` on a source; on a mount: tests/mount/reading/warm_test.cpp.

#include "tests/support/expect.hpp"
#include "tests/support/program.hpp"
#include "tests/support/residency.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs::tests;

namespace {

constexpr std::size_t tensor_size = 6 << 20;

std::string write_model(const TemporaryFolder& folder) {
    const std::string path = folder / "m.safetensors";
    write_file(path, safetensors_file({{"a.w", "U8", {tensor_size}, sample_bytes(tensor_size, 1)},
                                       {"b.w", "U8", {tensor_size}, sample_bytes(tensor_size, 2)}}));
    drop_from_cache(path);
    return path;
}

}  // namespace

TEST_CASE("warm brings a whole model into memory, and says what it did") {
    const TemporaryFolder folder;
    const std::string path = write_model(folder);
    if (resident_bytes(path) > tensor_size) SKIP_TEST("this filesystem keeps all files in memory");
    const Outcome outcome = run_program({"warm", path});
    CHECK(outcome.code == 0);
    CHECK(outcome.err.empty());
    CHECK(contains(outcome.out, "2 tensors, 12.6 MB in the page cache in "));
    CHECK(resident_bytes(path) >= 2 * tensor_size);
}

TEST_CASE("warm brings only tensors into memory whose names match a pattern") {
    const TemporaryFolder folder;
    const std::string path = write_model(folder);
    const Outcome outcome = run_program({"warm", path, "a.*"});
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "1 tensor, 6.3 MB"));
    CHECK(resident_bytes(path) >= tensor_size);
    CHECK(contains(run_program({"warm", path, "a.*", "?.w", "[b].w"}).out, "2 tensors"));
}

TEST_CASE("a pattern that matches no tensor is an error, and nothing is loaded") {
    const TemporaryFolder folder;
    const Outcome outcome = run_program({"warm", write_model(folder), "a.*", "\x1b[31m*"});
    CHECK(outcome.code == 3);
    CHECK(outcome.out.empty());
    CHECK(outcome.err == "tensorfs: no tensor's name matches \"\\x1B[31m*\"\n");
}

TEST_CASE("warming what is no model fails as every verb does") {
    const TemporaryFolder folder;
    CHECK(run_program({"warm", folder / "none"}).code == 3);
    CHECK(run_program({"warm"}).code == 2);
    write_file(folder / "bad.safetensors", "bad");
    CHECK(run_program({"warm", folder / "bad.safetensors"}).code == 4);
}
