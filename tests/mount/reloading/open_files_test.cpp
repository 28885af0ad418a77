// What is open when another model takes a mounted one's place, and for how long that one is held.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/mount/reloading/versions.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

TEST_CASE("what is open when the model changes stays the old one, to the last byte") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Versions versions;
    Mounted mount(versions.source());
    auto read_before = open_file(mount / "model/weight");
    CHECK(read_all(read_before) == weight_of('1'));
    auto not_read = open_file(mount / "common");
    auto direct = open_file(mount / "model/weight", O_DIRECT);
    auto folder = open_file(mount / "model", O_DIRECTORY);
    auto file = open_file(mount / ".tensorfs/flat/model.weight");
    void* const mapped = ::mmap(nullptr, weight_size, PROT_READ, MAP_SHARED, file.get(), 0);
    REQUIRE(mapped != MAP_FAILED);
    struct stat old_stat {};
    REQUIRE(::fstat(read_before.get(), &old_stat) == 0);

    versions.choose('2');
    reload(mount);
    std::filesystem::remove_all(versions.folder('1'));  // deleted, its bytes are still there for whoever has them open
    CHECK(read_file(mount / "model/weight") == weight_of('2'));
    CHECK(read_all(read_before) == weight_of('1'));
    CHECK(read_all(not_read) == "1");
    std::string block(weight_size / 4096 * 4096, '\0');
    void* aligned = nullptr;
    REQUIRE(::posix_memalign(&aligned, 4096, block.size()) == 0);
    CHECK(::pread(direct.get(), aligned, block.size(), 0) == static_cast<ssize_t>(block.size()));
    CHECK(std::string(static_cast<char*>(aligned), block.size()) == weight_of('1').substr(0, block.size()));
    std::free(aligned);
    CHECK(std::string(static_cast<char*>(mapped), weight_size) == weight_of('1'));
    tensorfs::Descriptor in_folder(::openat(folder.get(), "weight", O_RDONLY | O_CLOEXEC));
    REQUIRE(in_folder);
    CHECK(read_all(in_folder) == weight_of('1'));
    // As where a file was replaced by rename, the new one is another file.
    struct stat new_stat {};
    REQUIRE(::stat((mount / "model/weight").c_str(), &new_stat) == 0);
    CHECK(new_stat.st_ino != old_stat.st_ino);
    CHECK(::fstat(read_before.get(), &new_stat) == 0);
    CHECK(new_stat.st_ino == old_stat.st_ino);
    ::munmap(mapped, weight_size);
    // All of that closed, what was looked up in the old folder meanwhile does not keep the old model.
    for (tensorfs::Descriptor* open : {&read_before, &not_read, &direct, &folder, &file, &in_folder}) open->reset();
    CHECK(eventually([&] { return models_held(mount) == 1; }));
}

TEST_CASE("an old model is held as long as the kernel knows of it, and freed then") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Versions versions;
    Mounted mount(versions.source());
    see_everything(mount, '1');
    versions.choose('2');
    reload(mount);
    CHECK(eventually([&] { return models_held(mount) == 1; }));  // nothing was open
    see_everything(mount, '2');

    auto file = open_file(mount / "model/weight");
    versions.choose('3');
    reload(mount);
    see_everything(mount, '3');
    CHECK(models_held(mount) == 2);
    CHECK(read_all(file) == weight_of('2'));
    file.reset();
    // The kernel forgets a file that nobody has open and that no name leads to.
    CHECK(eventually([&] { return models_held(mount) == 1; }));
    const std::string fds = "/proc/" + std::to_string(mount.daemon().pid()) + "/fd";
    std::vector<std::string> shards;
    for (const std::string& fd : names_in(fds)) {
        const std::string target = std::filesystem::read_symlink(fds + "/" + fd).string();
        if (target.ends_with(".safetensors")) shards.push_back(target);
    }
    CHECK(shards ==
          std::vector<std::string>{std::filesystem::canonical(versions.folder('3')).string() + "/model.safetensors"});
}
