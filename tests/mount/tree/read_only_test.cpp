// Nothing in a mount can be changed, and the error says why.

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

/// errno of a call that failed; 0 if it did not.
int error_of(long result) { return result < 0 ? errno : 0; }

class Served {
public:
    Served() {
        write_file(shard(), safetensors_file({{"a.weight", "U8", {4}, "abcd"}}));
        before_ = read_file(shard());
        mount_.emplace(shard());
    }
    [[nodiscard]] const std::string& root() const { return mount_->path(); }
    [[nodiscard]] std::string shard() const { return folder_ / "model.safetensors"; }
    [[nodiscard]] bool shard_unchanged() const { return read_file(shard()) == before_; }

private:
    TemporaryFolder folder_;
    std::string before_;
    std::optional<Mounted> mount_;
};

}  // namespace

TEST_CASE("a tensor cannot be opened for writing") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    const std::string file = served.root() + "/a/weight";
    for (const int flags : {O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_WRONLY | O_APPEND}) {
        const int error = error_of(::open(file.c_str(), flags | O_CLOEXEC));
        CHECK((error == EROFS || error == EACCES));
    }
    const int error = error_of(::open((served.root() + "/new").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    CHECK((error == EROFS || error == EACCES));
    CHECK(read_file(file) == "abcd");
    CHECK(served.shard_unchanged());
}

TEST_CASE("changing a tensor, a folder or their attributes fails: the filesystem is read-only") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Served served;
    const std::string file = served.root() + "/a/weight";
    const std::string folder = served.root() + "/a";
    const std::string fresh = served.root() + "/fresh";
    CHECK(error_of(::unlink(file.c_str())) == EROFS);
    CHECK(error_of(::rmdir(folder.c_str())) == EROFS);
    CHECK(error_of(::mkdir(fresh.c_str(), 0700)) == EROFS);
    CHECK(error_of(::mknod(fresh.c_str(), S_IFREG | 0600, 0)) == EROFS);
    CHECK(error_of(::symlink("target", fresh.c_str())) == EROFS);
    CHECK(error_of(::link(file.c_str(), fresh.c_str())) == EROFS);
    CHECK(error_of(::rename(file.c_str(), fresh.c_str())) == EROFS);
    CHECK(error_of(::chmod(file.c_str(), 0600)) == EROFS);
    CHECK(error_of(::chown(file.c_str(), ::geteuid(), ::getegid())) == EROFS);
    CHECK(error_of(::truncate(file.c_str(), 0)) == EROFS);
    CHECK(error_of(::utimensat(AT_FDCWD, file.c_str(), nullptr, 0)) == EROFS);
    CHECK(error_of(::setxattr(file.c_str(), "user.tensor.name", "x", 1, 0)) == EROFS);
    CHECK(error_of(::removexattr(file.c_str(), "user.tensor.name")) == EROFS);
    CHECK(error_of(::access(file.c_str(), W_OK)) == EROFS);
    CHECK(error_of(::access(file.c_str(), R_OK)) == 0);
    CHECK(read_file(file) == "abcd");
    CHECK(get_xattr(file, "user.tensor.name") == "a.weight");
    CHECK(served.shard_unchanged());
}

TEST_CASE("even where root remounts it for writing, nothing changes") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    if (::geteuid() != 0) SKIP_TEST("only root can remount");
    const Served served;
    const std::string file = served.root() + "/a/weight";
    const std::string fresh = served.root() + "/fresh";
    REQUIRE(::mount(nullptr, served.root().c_str(), nullptr, MS_REMOUNT, nullptr) == 0);
    CHECK(error_of(::unlink(file.c_str())) == EROFS);
    CHECK(error_of(::rmdir((served.root() + "/a").c_str())) == EROFS);
    CHECK(error_of(::mkdir(fresh.c_str(), 0700)) == EROFS);
    CHECK(error_of(::mknod(fresh.c_str(), S_IFREG | 0600, 0)) == EROFS);
    CHECK(error_of(::symlink("target", fresh.c_str())) == EROFS);
    CHECK(error_of(::link(file.c_str(), fresh.c_str())) == EROFS);
    CHECK(error_of(::rename(file.c_str(), fresh.c_str())) == EROFS);
    CHECK(error_of(::chmod(file.c_str(), 0600)) == EROFS);
    CHECK(error_of(::truncate(file.c_str(), 0)) == EROFS);
    CHECK(error_of(::setxattr(file.c_str(), "user.tensor.name", "x", 1, 0)) == EROFS);
    CHECK(error_of(::removexattr(file.c_str(), "user.tensor.name")) == EROFS);
    const int error = error_of(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    CHECK(error == EROFS);

    const tensorfs::Descriptor opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (opened) CHECK(error_of(::pwrite(opened.get(), "ABCD", 4, 0)) != 0);
    CHECK(read_file(file) == "abcd");
    CHECK(served.shard_unchanged());
}
