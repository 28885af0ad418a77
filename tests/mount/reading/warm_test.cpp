// `tensorfs warm` on a mount.

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"
#include "tests/support/residency.hpp"

using namespace tensorfs::tests;

namespace {

constexpr std::size_t size = 3 << 20;

std::string write_model(const TemporaryFolder& folder) {
    write_file(folder / "m.safetensors", safetensors_file({{"a.w", "U8", {size}, sample_bytes(size, 1)},
                                                           {"b.w", "U8", {size}, sample_bytes(size, 2)}}));
    return folder / "m.safetensors";
}

}  // namespace

TEST_CASE("what a mount was warmed with is read without asking the daemon") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder));
    const Result all = run({program(), "warm", mount.path()});
    CHECK(all.code == 0);
    CHECK(all.out.find("2 tensors, 6.3 MB in the mount's cache in ") == 0);
    CHECK(mount.requests("read") > 0);
    for (const std::string name : {"a/w", "b/w"}) {
        CHECK(resident_bytes(mount / name) >= size * 9 / 10);  // the kernel may drop some pages at any time
        CHECK(is_read_from_cache(mount, mount / name));
    }
    CHECK((read_file(mount / "a/w") == sample_bytes(size, 1)));
    CHECK((read_file(mount / "b/w") == sample_bytes(size, 2)));
}

TEST_CASE("a folder, a file or what matches a pattern of a mount is warmed alone") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder));
    for (const std::vector<std::string>& what :
         {std::vector<std::string>{mount / "a"}, {mount / "a/w"}, {mount.path(), "a.*"}}) {
        std::vector<std::string> command{program(), "warm"};
        command.insert(command.end(), what.begin(), what.end());
        const Result result = run(command);
        CHECK(result.code == 0);
        CHECK(result.out.find("1 tensor, 3.1 MB") == 0);
    }
    const Result none = run({program(), "warm", mount.path(), "c.*"});
    CHECK(none.code == 3);
    CHECK(none.err == "tensorfs: no tensor's name matches \"c.*\"\n");
}

TEST_CASE("the hidden folder of a mount can be warmed, too") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder));
    CHECK(run({program(), "warm", mount / ".tensorfs/npy"}).out.find("2 tensors") == 0);
    CHECK(run({program(), "warm", mount / ".tensorfs"}).code == 0);
}
