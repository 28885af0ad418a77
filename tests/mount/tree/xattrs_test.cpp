// Extended attributes at their edges. Their values are every_node_test.cpp's.

#include <linux/limits.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

using namespace std::string_literals;

/// What a call gave, and errno if it failed.
struct Answer {
    ssize_t size;
    int error;
    bool operator==(const Answer&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Answer& a) { return out << a.size << " (errno " << a.error << ')'; }

Answer get(const std::string& path, const std::string& name, std::size_t size) {
    std::string buffer(size, '\0');
    const ssize_t got = ::getxattr(path.c_str(), name.c_str(), buffer.data(), size);
    return {got, got < 0 ? errno : 0};
}

Answer list(const std::string& path, std::size_t size) {
    std::string buffer(size, '\0');
    const ssize_t got = ::listxattr(path.c_str(), buffer.data(), size);
    return {got, got < 0 ? errno : 0};
}

std::string write_model(const TemporaryFolder& folder, const std::string& name, const std::string& metadata = "") {
    write_file(folder / "model.safetensors", safetensors_file({{name, "U8", {1}, "x"}}, metadata));
    return folder / "model.safetensors";
}

}  // namespace

TEST_CASE("an attribute's size can be asked for, and a buffer that is too small is refused") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder, "some.name"));
    const std::string file = mount / "some/name";
    CHECK(get(file, "user.tensor.name", 0) == Answer{9, 0});
    CHECK(get(file, "user.tensor.name", 1) == Answer{-1, ERANGE});
    CHECK(get(file, "user.tensor.name", 8) == Answer{-1, ERANGE});
    CHECK(get(file, "user.tensor.name", 9) == Answer{9, 0});
    CHECK(get(file, "user.tensor.name", 65536) == Answer{9, 0});
}

TEST_CASE("the list's size can be asked for, and a buffer that is too small is refused") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder, "some.name", R"({"key":"value"})"));
    for (const std::string& path : {mount.path(), mount / "some", mount / "some/name"}) {
        const Answer probed = list(path, 0);
        CHECK(probed.size > 0);
        const auto size = static_cast<std::size_t>(probed.size);
        CHECK(list(path, size) == probed);
        CHECK(list(path, size - 1) == Answer{-1, ERANGE});
        CHECK(list(path, 65536) == probed);
    }
    CHECK(list(mount / ".tensorfs", 0) == Answer{0, 0});
    CHECK(list(mount / ".tensorfs/tensors.json", 0) == Answer{0, 0});
}

TEST_CASE("an attribute that is not there is ENODATA, in every namespace") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder, "some.name"));
    for (const std::string& path :
         {mount.path(), mount / "some", mount / "some/name", mount / ".tensorfs/tensors.json"}) {
        INFO(path);
        for (const std::string name :
             {"user.none", "user.tensor.", "user.tensor.names", "user.model.metadata.none", "security.selinux",
              "security.capability", "security.ima", "system.posix_acl_access", "system.posix_acl_default"}) {
            INFO(name);
            // The kernel itself refuses default ACLs of files.
            CHECK(get(path, name, 100) == Answer{-1, ENODATA});
        }
    }
    CHECK(get(mount / "some", "user.tensor.name", 100) == Answer{-1, ENODATA});
    CHECK(get(mount / "some/name", "user.tensor.count", 100) == Answer{-1, ENODATA});
    CHECK(get(mount / "some", "user.model.nbytes", 100) == Answer{-1, ENODATA});
    if (::geteuid() == 0) CHECK(get(mount / "some/name", "trusted.none", 100) == Answer{-1, ENODATA});
}

TEST_CASE("a name that is too long for an attribute is E2BIG, and the file is there all the same") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder, std::string(70'000, 'n')));
    const std::vector<std::string> names = names_in(mount.path());
    REQUIRE(names.size() == 1);
    const std::string file = mount / names.front();
    CHECK(get(file, "user.tensor.name", 0) == Answer{-1, E2BIG});
    CHECK(get(file, "user.tensor.name", 65536) == Answer{-1, E2BIG});
    CHECK(get_xattr(file, "user.tensor.dtype") == "U8");
    CHECK(read_file(file) == "x");
    // tensors.json has no limit.
    CHECK(read_file(mount / ".tensorfs/tensors.json").find(std::string(70'000, 'n')) != std::string::npos);
}

TEST_CASE("a name of just 64 KiB is still an attribute") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string name(65'536, 'n');
    const Mounted mount(write_model(folder, name));
    CHECK((get_xattr(mount / names_in(mount.path()).at(0), "user.tensor.name") == name));
}

TEST_CASE("values keep every byte, NUL among them") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder, "a\0b\nc"s, R"({"key":"x\u0000y\n","empty":""})"));
    CHECK(names_in(mount.path()) == std::vector<std::string>{"a%00b%0Ac"});
    CHECK(get_xattr(mount / "a%00b%0Ac", "user.tensor.name") == "a\0b\nc"s);
    CHECK(get_xattr(mount.path(), "user.model.metadata.key") == "x\0y\n"s);
    CHECK(get_xattr(mount.path(), "user.model.metadata.empty") == "");
}

TEST_CASE("a metadata key is escaped as a file name is, and one that is too long is left out") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const std::string longest(XATTR_NAME_MAX - std::string("user.model.metadata.").size(), 'k');
    const std::string metadata =
        R"({"a/b%\u0000":"escaped",")" + longest + R"(":"fits",")" + longest + R"(k":"does not"})";
    const Mounted mount(write_model(folder, "t", metadata));
    CHECK(get_xattr(mount.path(), "user.model.metadata.a%2Fb%25%00") == "escaped");
    CHECK(get_xattr(mount.path(), "user.model.metadata." + longest) == "fits");
    const std::vector<std::string> names = list_xattrs(mount.path());
    CHECK(std::count_if(names.begin(), names.end(),
                        [](const auto& n) { return n.starts_with("user.model.metadata."); }) == 2);
}
