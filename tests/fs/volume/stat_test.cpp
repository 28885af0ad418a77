#include "fs/volume/stat.hpp"

#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

struct stat of_file(std::uint64_t nbytes, const Owner& owner = {}) {
    Node node;
    node.inode = {View::raw, 41};
    node.nbytes = nbytes;
    node.modified = {1700000000, 123};
    return to_stat(node, owner);
}

struct stat of_folder(std::uint32_t entries, std::uint32_t folders, const Owner& owner = {}) {
    Node node;
    node.is_folder = true;
    node.entries = entries;
    node.folders = folders;
    node.modified = {1700000000, 456};
    return to_stat(node, owner);
}

}  // namespace

TEST_CASE("a file is regular, read-only, has one link and its tensor's size") {
    const struct stat s = of_file(1000, {1000, 100, 0});
    CHECK(s.st_mode == (S_IFREG | 0444));
    CHECK(s.st_nlink == 1);
    CHECK(s.st_size == 1000);
    CHECK(s.st_uid == 1000);
    CHECK(s.st_gid == 100);
    CHECK(s.st_blksize == 4096);
    CHECK(s.st_ino == 42);
}

TEST_CASE("a folder has a link for itself, one for its name and one for each folder in it") {
    CHECK(of_folder(0, 0).st_mode == (S_IFDIR | 0555));
    CHECK(of_folder(0, 0).st_nlink == 2);
    CHECK(of_folder(10, 3).st_nlink == 5);
    CHECK(of_folder(10, 3).st_size == 0);
    CHECK(of_folder(10, 3).st_blocks == 0);
}

TEST_CASE("blocks are the size in units of 512 bytes, rounded up") {
    CHECK(of_file(0).st_blocks == 0);
    CHECK(of_file(1).st_blocks == 1);
    CHECK(of_file(512).st_blocks == 1);
    CHECK(of_file(513).st_blocks == 2);
    CHECK(of_file(std::uint64_t{1} << 40).st_blocks == std::int64_t{1} << 31);
}

TEST_CASE("all three times are when the shard was modified") {
    const struct stat s = of_file(1);
    for (const timespec& time : {s.st_atim, s.st_mtim, s.st_ctim}) {
        CHECK(time.tv_sec == 1700000000);
        CHECK(time.tv_nsec == 123);
    }
    CHECK(of_folder(1, 1).st_mtim.tv_nsec == 456);
}

TEST_CASE("the umask takes permissions, and nothing else") {
    CHECK(of_file(1, {0, 0, 0077}).st_mode == (S_IFREG | 0400));
    CHECK(of_file(1, {0, 0, 0777}).st_mode == S_IFREG);
    CHECK(of_folder(1, 0, {0, 0, 0027}).st_mode == (S_IFDIR | 0550));
    CHECK(of_folder(1, 0, {0, 0, 0222}).st_mode == (S_IFDIR | 0555));
}

TEST_CASE("a file's block size is the file rounded up to 4 KiB, and at most 128 KiB") {
    CHECK(of_file(0).st_blksize == 4096);
    CHECK(of_file(4096).st_blksize == 4096);
    CHECK(of_file(4097).st_blksize == 8192);
    CHECK(of_file((128 << 10) - 1).st_blksize == 128 << 10);
    CHECK(of_file((128 << 10) + 1).st_blksize == 128 << 10);
    CHECK(of_file(UINT64_MAX).st_blksize == 128 << 10);
}

TEST_CASE("a folder's block size is what its listing needs: from 4 KiB to 128 KiB") {
    CHECK(of_folder(0, 0).st_blksize == 4096);
    CHECK(of_folder(5, 5).st_blksize == 4096);
    CHECK(of_folder(1000000, 0).st_blksize == 128 << 10);
    CHECK(of_folder(UINT32_MAX, 0).st_blksize == 128 << 10);
    blksize_t before = 0;
    for (std::uint32_t entries = 1; entries < 20000; entries += 7) {
        const blksize_t size = of_folder(entries, 0).st_blksize;
        REQUIRE(size >= before);
        REQUIRE((size & (size - 1)) == 0);
        before = size;
    }
}

TEST_CASE("the filesystem is as large as its tensors, and full") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"a.b", "U8", {513}, std::string(513, 'x')},
                                                           {"a.c", "U8", {1}, "x"},
                                                           {"a.d", "U8", {0}, ""},
                                                           {"e", "U8", {1024}, std::string(1024, 'x')}}));
    const Volume volume(load(folder / "m.safetensors"), "./");
    const struct statvfs s = to_statvfs(volume);
    CHECK(s.f_frsize == 512);
    CHECK(s.f_bsize == s.f_frsize);
    CHECK(s.f_blocks == 2 + 1 + 0 + 2);
    CHECK(s.f_bfree == 0);
    CHECK(s.f_bavail == 0);
    CHECK(s.f_files == 6);  // the root, a, and four files
    CHECK(s.f_ffree == 0);
    CHECK(s.f_namemax == 255);
}
