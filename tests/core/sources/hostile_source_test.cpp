#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace fs = std::filesystem;

// Sources made to harm. None may lead out of its folder, and none may make loading wait.

namespace {

/// A folder whose index places "t" in `shard`, with "secret.safetensors" in the folder above.
class Trap {
public:
    explicit Trap(const std::string& shard) {
        write_file(above_ / "secret.safetensors", safetensors_file({{"t", "U8", {1}, "x"}}));
        write_file(above_ / "model/good.safetensors", safetensors_file({{"good", "U8", {1}, "x"}}));
        write_file(index(), nlohmann::json{{"weight_map", {{"t", shard}, {"good", "good.safetensors"}}}}.dump());
    }
    [[nodiscard]] std::string index() const { return above_ / "model/model.safetensors.index.json"; }
    [[nodiscard]] std::string folder() const { return above_ / "model"; }
    [[nodiscard]] std::vector<Problem> refusal(const std::string& path, OnProblem on_problem) const {
        return problems_of([&] { Model::load(find_source(path), on_problem); });
    }

private:
    TemporaryFolder above_;
};

/// Puts at `path` something that is no file.
void make_fifo(const std::string& path) { REQUIRE(::mkfifo(path.c_str(), 0600) == 0); }
void make_socket(const std::string& path) { REQUIRE(::mknod(path.c_str(), S_IFSOCK | 0600, 0) == 0); }
void make_folder(const std::string& path) { fs::create_directory(path); }
void make_device(const std::string& path) { fs::create_symlink("/dev/zero", path); }
void make_loop(const std::string& path) { fs::create_symlink(fs::path(path).filename(), path); }

struct Oddity {
    const char* what;
    void (*make)(const std::string& path);
    const char* kind;
};
constexpr std::array<Oddity, 5> oddities{{{"a FIFO", make_fifo, "NotRegularFile "},
                                          {"a socket", make_socket, "NotRegularFile "},
                                          {"a folder", make_folder, "NotRegularFile "},
                                          {"a device", make_device, "NotRegularFile "},
                                          {"a link to itself", make_loop, "SystemError "}}};

}  // namespace

TEST_CASE("an index that names a shard outside its folder is refused, in part as well") {
    const TemporaryFolder elsewhere;
    write_file(elsewhere / "x.safetensors", safetensors_file({{"t", "U8", {1}, "x"}}));
    const std::vector<std::string> paths{elsewhere / "x.safetensors",
                                         "../secret.safetensors",
                                         "a/../../secret.safetensors",
                                         "./../secret.safetensors",
                                         "..\\secret.safetensors",
                                         "C:\\model\\x.safetensors",
                                         "C:x.safetensors",
                                         "c:/x.safetensors",
                                         "\\\\server\\share\\x.safetensors",
                                         "//server/share/x.safetensors",
                                         "",
                                         std::string("good\0.safetensors", 17),
                                         std::string("../secret.safetensors\0.safetensors", 34)};
    for (const std::string& path : paths) {
        INFO(path);
        const Trap trap(path);
        for (const OnProblem on_problem : {OnProblem::refuse, OnProblem::leave_out}) {
            for (const std::string& source : {trap.folder(), trap.index()}) {
                const auto problems = trap.refusal(source, on_problem);
                REQUIRE(kinds(problems) == "InvalidShardPath ");
                CHECK(problems[0].path == trap.index());
            }
        }
    }
}

TEST_CASE("an index that names what is no .safetensors file is refused before anything is opened") {
    for (const char* path : {"model.bin", "/etc/passwd", "good.safetensors/", "good.safetensors/.", "good.safetensors ",
                             "good.SAFETENSORS", "."}) {
        INFO(path);
        const Trap trap(path);
        const std::string found = kinds(trap.refusal(trap.folder(), OnProblem::refuse));
        CHECK((found == "InvalidIndex " || found == "InvalidShardPath "));
    }
}

TEST_CASE("every bad path of an index is told, not the first alone") {
    const TemporaryFolder folder;
    write_file(folder / "model.safetensors.index.json",
               index_file({{"a", "/a.safetensors"}, {"b", "../b.safetensors"}, {"c", "c.bin"}, {"d", ""}}));
    const auto problems = problems_of([&] { find_source(folder.path().string()); });
    CHECK(kinds(problems) == "InvalidShardPath InvalidShardPath InvalidIndex InvalidShardPath ");
}

TEST_CASE("a message about a hostile path or name is one line without control characters") {
    const Trap trap("../\x1B]0;owned\x07\n\xE2\x80\xAE.safetensors");
    try {
        find_source(trap.folder());
        FAIL("it was found");
    } catch (const Error& e) {
        CHECK(std::string(e.what()).find_first_of("\x1B\x07\n") == std::string::npos);
        CHECK_FALSE(contains(e.what(), "\xE2\x80\xAE"));
    }
}

TEST_CASE("what is named like a shard and is no file is refused without waiting for it") {
    for (const Oddity& oddity : oddities) {
        INFO(oddity.what);
        const TemporaryFolder folder;
        oddity.make(folder / "model.safetensors");
        const auto problems = problems_of([&] { load(folder.path().string()); });
        REQUIRE(kinds(problems) == oddity.kind);
        CHECK(problems[0].path == folder / "model.safetensors");
        if (fs::is_directory(fs::symlink_status(folder / "model.safetensors"))) continue;  // a source of its own
        CHECK(kinds(problems_of([&] { load(folder / "model.safetensors"); })) == oddity.kind);
    }
}

TEST_CASE("what an index names and is no file is refused without waiting, and of a part left out") {
    for (const Oddity& oddity : oddities) {
        INFO(oddity.what);
        const Trap trap("odd.safetensors");
        oddity.make(trap.folder() + "/odd.safetensors");
        CHECK(kinds(trap.refusal(trap.folder(), OnProblem::refuse)) == oddity.kind);
        const Model model = Model::load(find_source(trap.folder()), OnProblem::leave_out);
        CHECK(kinds(model.problems()) == oddity.kind);
        CHECK(model.tensors().size() == 1);
    }
}

TEST_CASE("what is named like an index and is no file is refused without waiting for it") {
    for (const Oddity& oddity : oddities) {
        INFO(oddity.what);
        const TemporaryFolder folder;
        write_file(folder / "model.safetensors", safetensors_file("{}", ""));
        oddity.make(folder / "model.safetensors.index.json");
        CHECK(kinds(problems_of([&] { load(folder.path().string()); })) == oddity.kind);
        fs::remove(folder / "model.safetensors.index.json");
        oddity.make(folder / "other.index.json");  // not telling by its name, so it is none
        CHECK(load(folder.path().string()).shards().size() == 1);
    }
}

TEST_CASE("a ref of the Hub's cache that is no file is refused without waiting for it") {
    for (const Oddity& oddity : oddities) {
        INFO(oddity.what);
        const TemporaryFolder folder;
        write_file(folder / "snapshots/abc/model.safetensors", safetensors_file("{}", ""));
        write_file(folder / "snapshots/def/model.safetensors", safetensors_file("{}", ""));
        fs::create_directory(folder / "refs");
        oddity.make(folder / "refs/main");
        CHECK_FALSE(problems_of([&] { load(folder.path().string()); }).empty());
    }
}
