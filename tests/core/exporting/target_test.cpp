#include "core/exporting/target.hpp"

#include <filesystem>

#include "tests/core/exporting/exporting.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace fs = std::filesystem;

namespace {

/// A folder of two shards and an index, and a place for targets.
struct Place {
    TemporaryFolder folder;
    Model model;
    std::string before;

    Place() : model(make()), before(read_file(folder / "in/1.safetensors")) {}

    Model make() const {
        write_file(folder / "in/1.safetensors", safetensors_file({{"a", "U8", {6}, "123456"}}));
        write_file(folder / "in/2.safetensors", safetensors_file({{"b", "U8", {6}, "abcdef"}}));
        write_file(folder / "in/model.safetensors.index.json",
                   index_file({{"a", "1.safetensors"}, {"b", "2.safetensors"}}));
        return load(folder / "in");
    }

    [[nodiscard]] std::string refusal(const std::string& path, bool may_replace = false,
                                      std::optional<std::uint64_t> max_shard_size = {}) const {
        ExportOptions options;
        options.max_shard_size = max_shard_size;
        const ExportTarget target{path, may_replace, {folder / "in/model.safetensors.index.json"}};
        std::string text = refusal_of([&] { export_model(model, plan_all(model, options), target, nobody); });
        CHECK(read_file(folder / "in/1.safetensors") == before);
        return text;
    }
};

}  // namespace

TEST_CASE("a target that is there is refused unless it may be replaced") {
    const Place place;
    const std::string out = place.folder / "out";
    write_file(out, "precious");
    CHECK(contains(place.refusal(out), "--force"));
    CHECK(read_file(out) == "precious");
    CHECK(place.refusal(out, true).empty());
    CHECK(load(out).tensors().size() == 2);
    CHECK(listing(place.folder.path()) == "in out ");

    fs::create_symlink("nowhere", place.folder / "link");
    CHECK(contains(place.refusal(place.folder / "link"), "--force"));
    CHECK(contains(place.refusal(place.folder.path().string(), true), "it is a folder"));
    CHECK(contains(place.refusal("/dev/null", true), "no regular file"));
    CHECK(contains(place.refusal(place.folder / "no/such/out"), "No such file"));
    CHECK(contains(place.refusal(out + "/below"), "Not a directory"));
}

TEST_CASE("a file of the source is never written, whatever its name") {
    const Place place;
    const std::string shard = place.folder / "in/1.safetensors";
    fs::create_symlink(shard, place.folder / "symlink");
    fs::create_hard_link(shard, place.folder / "hard link");
    fs::create_directory_symlink(place.folder / "in", place.folder / "folder");
    for (const std::string name : {"in/1.safetensors", "in/../in/2.safetensors", "symlink", "hard link",
                                   "folder/1.safetensors", "in/model.safetensors.index.json"}) {
        for (const bool may_replace : {false, true}) {
            INFO(name);
            CHECK(contains(place.refusal(place.folder / name, may_replace), "of the source itself"));
        }
    }
    // Two shards make an index of the name that the source's has.
    CHECK(contains(place.refusal(place.folder / "in", true, 6), "of the source itself"));
}

TEST_CASE("what would make the source another model is refused unless it may") {
    const Place place;
    const std::string inside = place.folder / "in/more.safetensors";
    CHECK(contains(place.refusal(inside), "another model"));
    CHECK(contains(place.refusal(place.folder / "in/model.gguf"), "another model"));
    CHECK(place.refusal(place.folder / "in/notes.txt").empty());  // no name by which a model is found
    CHECK(place.refusal(place.folder / "in/shards", false, 100).empty());
    CHECK(place.refusal(inside, true).empty());

    // Of a file, its folder does not matter.
    const Model file = load(place.folder / "in/1.safetensors");
    CHECK(refusal_of([&] { export_all(file, place.folder / "in/beside.safetensors"); }).empty());
}

TEST_CASE("a pipeline does not get another part unless it may") {
    const TemporaryFolder folder;
    for (const std::string part : {"unet", "vae"})
        write_file(folder / ("in/" + part + "/model.safetensors"), safetensors_file({{part, "U8", {1}, "1"}}));
    const Model model = load(folder / "in");
    ExportOptions options;
    options.max_shard_size = 100;
    CHECK(contains(refusal_of([&] { export_all(model, folder / "in/all", options); }), "another model"));
    CHECK(listing(folder / "in") == "unet vae ");
    export_all(model, folder / "in/all", options, true);
    CHECK(listing(folder / "in/all") == "model.safetensors ");
}

TEST_CASE("shards go into a folder that is new or empty, or with what is not theirs") {
    const Place place;
    const std::string out = place.folder / "out";
    fs::create_directory(out);
    CHECK(place.refusal(out, false, 6).empty());
    const std::string all =
        "model-00001-of-00002.safetensors model-00002-of-00002.safetensors model.safetensors.index.json ";
    CHECK(listing(out) == all);
    write_file(out + "/config.json", "{}");
    CHECK(contains(place.refusal(out, false, 6), "not empty"));
    CHECK(place.refusal(out, true, 6).empty());
    CHECK(listing(out) == "config.json " + all);
    CHECK(contains(place.refusal(out, true, 100), "would be mixed"));  // model.safetensors beside two shards
    CHECK(listing(out) == "config.json " + all);
    write_file(place.folder / "file", "");
    CHECK(contains(place.refusal(place.folder / "file", true, 6), "no folder"));
    CHECK(contains(place.refusal(place.folder / "no/such", false, 6), "No such file"));
}

TEST_CASE("a target that appears meanwhile is not replaced") {
    const Place place;
    const std::string out = place.folder / "out";
    for (const bool is_folder : {false, true}) {
        const ExportWatch intruder{[&](std::uint64_t) {
                                       if (is_folder) {
                                           fs::create_directories(out + "/x");
                                       } else {
                                           write_file(out, "precious");
                                       }
                                   },
                                   [] { return false; }};
        ExportOptions options;
        if (is_folder) options.max_shard_size = 6;
        const ExportPlan plan = plan_all(place.model, options);
        CHECK(contains(refusal_of([&] { export_model(place.model, plan, {out, false, {}}, intruder); }), "meanwhile"));
        CHECK(listing(place.folder.path()) == "in out ");
        fs::remove_all(out);
    }
}
