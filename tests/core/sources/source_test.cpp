#include "core/sources/source.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "tests/core/sources/format_lists.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

/// The working folder is another one as long as this lives.
class WorkingFolder {
public:
    explicit WorkingFolder(const fs::path& path) : before_(fs::current_path()) { fs::current_path(path); }
    ~WorkingFolder() { fs::current_path(before_); }
    WorkingFolder(const WorkingFolder&) = delete;
    WorkingFolder& operator=(const WorkingFolder&) = delete;

private:
    fs::path before_;
};

/// The shards of a model that is one set.
Names shards_of(const std::string& path) {
    const Source source = find_source(path);
    REQUIRE(source.components.size() == 1);
    CHECK(source.components[0].name.empty());
    return source.components[0].shards;
}

std::string refusal(const std::string& path) {
    return kinds(problems_of([&] { find_source(path); }));
}

}  // namespace

TEST_CASE("a file is the only shard, whatever it is called") {
    const TemporaryFolder folder;
    for (const char* name : {"a.safetensors", "blob", "model.bin", "index"}) {
        write_file(folder / name, "");
        CHECK(shards_of(folder / name) == Names{name});
        const Source source = find_source(folder / name);
        CHECK(source.location == folder / name);
        CHECK(source.components[0].folder == folder.path());
        CHECK_FALSE(source.components[0].index.has_value());
        CHECK(source.components[0].index_path.empty());
    }
}

TEST_CASE("a folder without an index is all of its .safetensors files, in natural order") {
    const TemporaryFolder folder;
    for (const char* name : {"m-10.safetensors", "m-2.safetensors", "a.safetensors", "README.md", "x.safetensors.part",
                             ".hidden.safetensors", "below/b.safetensors", "safetensors"}) {
        write_file(folder / name, "");
    }
    CHECK(shards_of(folder.path().string()) == Names{"a.safetensors", "m-2.safetensors", "m-10.safetensors"});
}

TEST_CASE("a folder with an index is what the index says, whatever else lies in it") {
    const TemporaryFolder folder;
    write_file(folder / "other.safetensors", "");
    write_file(folder / "x.safetensors.index.json", index_file({{"t", "s.safetensors"}}));
    CHECK(shards_of(folder.path().string()) == Names{"s.safetensors"});
    const Source source = find_source(folder.path().string());
    CHECK(source.components[0].index.has_value());
    CHECK(source.components[0].index_path == folder / "x.safetensors.index.json");
}

TEST_CASE("of several indexes the usual one speaks for the folder, and a path to one is no question") {
    const TemporaryFolder folder;
    write_file(folder / "a.safetensors.index.json", index_file({{"t", "a.safetensors"}}));
    write_file(folder / "b.safetensors.index.json", index_file({{"t", "b.safetensors"}}));
    const auto problems = problems_of([&] { find_source(folder.path().string()); });
    CHECK(kinds(problems) == "AmbiguousSource ");
    CHECK(contains(problems.at(0).text, "a.safetensors.index.json"));
    CHECK(contains(problems.at(0).text, "b.safetensors.index.json"));
    write_file(folder / "model.safetensors.index.json", index_file({{"t", "m.safetensors"}}));
    CHECK(shards_of(folder.path().string()) == Names{"m.safetensors"});
    CHECK(shards_of(folder / "b.safetensors.index.json") == Names{"b.safetensors"});
}

TEST_CASE("a file ending in .json is an index, and its shards are relative to its folder") {
    const TemporaryFolder folder;
    write_file(folder / "m/any.json", index_file({{"t", "s/1.safetensors"}}));
    CHECK(shards_of(folder / "m/any.json") == Names{"s/1.safetensors"});
    CHECK(find_source(folder / "m/any.json").components[0].folder == folder / "m");
    CHECK(find_source(folder / "m/any.json").location == folder / "m/any.json");
    write_file(folder / "bad.json", "{}");
    CHECK(refusal(folder / "bad.json") == "InvalidIndex ");
}

TEST_CASE("a folder of folders with shards is a pipeline: each is a component") {
    const TemporaryFolder folder;
    write_file(folder / "model_index.json", "{}");
    write_file(folder / "unet/diffusion_pytorch_model.safetensors", "");
    write_file(folder / "text_encoder/model.safetensors", "");
    write_file(folder / "tokenizer/vocab.json", "{}");
    const Source source = find_source(folder.path().string());
    REQUIRE(source.components.size() == 2);
    CHECK(source.components[0].name == "text_encoder");
    CHECK(source.components[0].folder == folder / "text_encoder");
    CHECK(source.components[1].name == "unet");
    CHECK(source.components[1].shards == Names{"diffusion_pytorch_model.safetensors"});
}

TEST_CASE("where nothing is, or nothing that is read as a model, that is said") {
    const TemporaryFolder folder;
    CHECK(refusal(folder / "none") == "NoSuchSource ");
    CHECK(refusal("") == "NoSuchSource ");
    fs::create_symlink("none", folder / "dangling");
    CHECK(refusal(folder / "dangling") == "NoSuchSource ");
    write_file(folder / "file", "");
    CHECK(refusal(folder / "file/below") == "NoSuchSource ");
    CHECK(refusal(folder / "file/") == "NoSuchSource ");
    fs::create_directory(folder / "empty");
    CHECK(refusal(folder / "empty") == "NotAModel ");
    write_file(folder / "torch/pytorch_model.bin", "x");
    const auto problems = problems_of([&] { find_source(folder / "torch", {}, only_safetensors); });
    CHECK(kinds(problems) == "NotAModel ");
    CHECK(problems.at(0).text == "the folder has no .safetensors file and no index of any");
    fs::create_symlink("loop", folder / "loop");
    CHECK(refusal(folder / "loop") == "SystemError ");
    CHECK(refusal(folder / std::string(5000, 'x')) == "SystemError ");
}

TEST_CASE("a FIFO in the place of an index is refused without waiting for it") {
    const TemporaryFolder folder;
    REQUIRE(::mkfifo((folder / "model.safetensors.index.json").c_str(), 0600) == 0);
    CHECK(refusal(folder.path().string()) == "NotRegularFile ");
}

TEST_CASE("paths keep what the user typed, and have a form from the root besides") {
    const TemporaryFolder folder;
    write_file(folder / "m/a.safetensors", "");
    const WorkingFolder working(folder.path());
    for (const char* typed : {"m", "./m", "m/", "m/.", "m//"}) {
        INFO(typed);
        const Source source = find_source(typed);
        CHECK(source.path == typed);
        CHECK(source.location == folder / "m");
        CHECK(source.components.at(0).folder == typed);
    }
    const WorkingFolder below(folder / "m");
    CHECK(find_source("a.safetensors").location == folder / "m/a.safetensors");
    CHECK(find_source("a.safetensors").components.at(0).folder.empty());
    CHECK(find_source(".").location == folder / "m");
    CHECK(find_source("../m").location == folder / "m");
}

TEST_CASE("a symbolic link in a path stays in it") {
    const TemporaryFolder folder;
    write_file(folder / "blobs/1234", safetensors_file("{}", ""));
    fs::create_directory(folder / "snapshot");
    fs::create_symlink("../blobs/1234", folder / "snapshot/a.safetensors");
    fs::create_directory_symlink("snapshot", folder / "latest");
    CHECK(find_source(folder / "latest").location == folder / "latest");
    CHECK(shards_of(folder / "latest") == Names{"a.safetensors"});
    CHECK(load(folder / "latest").shards().at(0).path() == folder / "latest/a.safetensors");
}

TEST_CASE("a path from the root leads to the same file as what was typed, behind a symbolic link too") {
    const TemporaryFolder folder;
    write_file(folder / "far/away/m/a.safetensors", safetensors_file({{"t", "U8", {1}, "x"}}));
    fs::create_directory(folder / "far/away/x");
    fs::create_directory_symlink("far/away/x", folder / "link");
    const WorkingFolder working(folder.path());
    const Model model = load("link/../m");
    INFO(model.shard_path(model.tensors().at(0)));
    CHECK(fs::exists(model.shard_path(model.tensors().at(0))));
    CHECK(fs::exists(model.location()));
}

TEST_CASE("a key is for formats whose files have parts, and others say that they have none") {
    const TemporaryFolder folder;
    write_file(folder / "a.safetensors", safetensors_file({{"t", "U8", {1}, "x"}}));
    const Source source = find_source(folder / "a.safetensors", {{}, "", "model.ema"});
    CHECK(source.key == "model.ema");
    const auto problems = problems_of([&] { Model::load(source); });
    REQUIRE(kinds(problems) == "NoSuchSource ");
    CHECK(problems[0].path == folder / "a.safetensors");
    CHECK(contains(problems[0].text, "model.ema"));
    CHECK(contains(problems[0].text, "safetensors"));
    CHECK(find_source(folder.path().string(), {{}, "", "x"}).key == "x");
    CHECK(find_source(folder.path().string()).key.empty());
}
