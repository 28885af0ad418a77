// What a listing shows, and in which order.

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

using Names = std::vector<std::string>;
using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

Folder open_folder(const std::string& path) { return {::opendir(path.c_str()), ::closedir}; }

/// A model of one-byte tensors with these names.
std::string write_model(const TemporaryFolder& folder, const Names& names) {
    std::vector<Sample> samples;
    for (const std::string& name : names) samples.push_back({name, "U8", {1}, "x"});
    write_file(folder / "model.safetensors", safetensors_file(samples));
    return folder / "model.safetensors";
}

constexpr int many = 20'000;

/// In an order that is not the listing's.
Names many_names() {
    Names names;
    for (int i = 0; i < many; ++i) names.push_back("t.x" + std::to_string((i * 7919) % many));
    return names;
}

/// In the order that a listing should have.
Names in_order() {
    Names names;
    for (int i = 0; i < many; ++i) names.push_back("x" + std::to_string(i));
    return names;
}

ino_t inode_of(const std::string& path) {
    struct stat found {};
    REQUIRE(::stat(path.c_str(), &found) == 0);
    return found.st_ino;
}

}  // namespace

TEST_CASE(".tensorfs is not listed in the root, but can be entered") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder, {"a.weight", "b"}));
    CHECK(names_in(mount.path()) == Names{"a", "b"});
    const Names hidden = names_in(mount / ".tensorfs");
    for (const std::string name : {"flat", "metadata.json", "tensors.json"})
        CHECK(std::count(hidden.begin(), hidden.end(), name) == 1);
    CHECK(names_in(mount / ".tensorfs/flat") == Names{"a.weight", "b"});
    CHECK_FALSE(std::filesystem::exists(mount / "a/.tensorfs"));
    CHECK_FALSE(std::filesystem::exists(mount / ".tensorfs/.tensorfs"));
}

TEST_CASE("numbers in names are listed in the order of the numbers") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder, {"layers.10.w", "layers.2.w", "layers.0.w", "layers.1.w", "b10", "b9"}));
    CHECK(names_in(mount / "layers") == Names{"0", "1", "2", "10"});
    CHECK(names_in(mount.path()) == Names{"b9", "b10", "layers"});
    CHECK(names_in(mount / ".tensorfs/flat") ==
          Names{"b9", "b10", "layers.0.w", "layers.1.w", "layers.2.w", "layers.10.w"});
}

TEST_CASE("a folder of 20,000 tensors is listed completely and in order, the first time and again") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder, many_names()));
    for (int i = 0; i < 3; ++i) CHECK((names_in(mount / "t") == in_order()));
    CHECK(names_in(mount / ".tensorfs/flat").size() == many);
    struct stat found {};
    REQUIRE(::stat((mount / "t").c_str(), &found) == 0);
    CHECK(found.st_blksize == 128 << 10);
    REQUIRE(::stat(mount.path().c_str(), &found) == 0);
    CHECK(found.st_blksize == 4096);
}

TEST_CASE("a listing goes on from any place that telldir told") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder, many_names()));
    const Folder listing = open_folder(mount / "t");
    REQUIRE(listing);
    std::vector<std::pair<long, std::string>> places;  // where a name is told
    for (;;) {
        const long place = ::telldir(listing.get());
        const dirent* const entry = ::readdir(listing.get());
        if (entry == nullptr) break;
        places.emplace_back(place, entry->d_name);
    }
    REQUIRE(places.size() == many + 2);
    for (std::size_t i = 0; i < 200; ++i) {
        const std::size_t at = (i * 7919) % (places.size() - 1);
        ::seekdir(listing.get(), places[at].first);
        CHECK(::readdir(listing.get())->d_name == places[at].second);
        CHECK(::readdir(listing.get())->d_name == places[at + 1].second);
    }
    ::rewinddir(listing.get());
    CHECK(::readdir(listing.get())->d_name == std::string("."));
}

TEST_CASE("a folder lists itself and its parent, and .. leads back") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder, {"a.b.c"}));
    for (const std::string path : {"a", "a/b", ".tensorfs", ".tensorfs/flat"}) {
        INFO(path);
        const Folder listing = open_folder(mount / path);
        REQUIRE(listing);
        const dirent* entry = ::readdir(listing.get());
        CHECK(entry->d_name == std::string("."));
        CHECK(entry->d_ino == inode_of(mount / path));
        entry = ::readdir(listing.get());
        CHECK(entry->d_name == std::string(".."));
        const std::string parent = std::filesystem::path(mount / path).parent_path();
        CHECK(entry->d_ino == inode_of(parent));
        CHECK(inode_of(mount / (path + "/..")) == inode_of(parent));
    }
}

TEST_CASE("a model without tensors is an empty folder") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    const Mounted mount(write_model(folder, {}));
    CHECK(names_in(mount.path()).empty());
    CHECK(names_in(mount / ".tensorfs/flat").empty());
}
