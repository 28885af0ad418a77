#include "core/sources/layout.hpp"

#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

using Names = std::vector<std::string>;

/// A folder with these files; an index, told by its name, places one tensor in each shard of `map`.
class Layout {
public:
    explicit Layout(const Names& files) {
        for (const std::string& file : files) write_file(folder_ / file, "");
    }
    Layout& index(const std::string& name, const Names& shards) {
        std::vector<std::pair<std::string, std::string>> map;
        for (const std::string& shard : shards) map.emplace_back("t" + std::to_string(map.size()), shard);
        write_file(folder_ / name, index_file(map));
        return *this;
    }

    [[nodiscard]] std::optional<ShardSet> find(const Choice& choice = {}) const {
        const std::string path = folder_.path().string();
        return find_shards(path, names_in(path), choice);
    }
    /// The shards of the set that is found; empty where there is none.
    [[nodiscard]] Names shards(const Choice& choice = {}) const {
        const auto set = find(choice);
        return set ? set->shards : Names{};
    }
    [[nodiscard]] std::vector<Problem> refusal(const Choice& choice = {}) const {
        return problems_of([&] { static_cast<void>(find(choice)); });
    }

private:
    TemporaryFolder folder_;
};

const Choice fp16{"", "fp16"};

}  // namespace

TEST_CASE("a shard's name has a base, a variant and a number") {
    CHECK(parse_shard_name("model.safetensors") == SetName{"model", "", 0, 0});
    CHECK(parse_shard_name("model.fp16.safetensors") == SetName{"model", "fp16", 0, 0});
    CHECK(parse_shard_name("model-00002-of-00015.safetensors") == SetName{"model", "", 2, 15});
    CHECK(parse_shard_name("model.fp16-00001-of-00002.safetensors") == SetName{"model", "fp16", 1, 2});
    CHECK(parse_shard_name("my-model-7b.safetensors") == SetName{"my-model-7b", "", 0, 0});
    for (const char* name : {".safetensors", ".model.safetensors", "model.bin", "model.safetensors.index.json",
                             "model.safetensors.incomplete", "model.safetensors.lock", "safetensors", ""}) {
        INFO(name);
        CHECK_FALSE(parse_shard_name(name).has_value());
    }
}

TEST_CASE("an index's name has a base and a variant, in each place where it is written") {
    CHECK(parse_index_name("model.safetensors.index.json") == SetName{"model", "", 0, 0});
    CHECK(parse_index_name("model.fp16.safetensors.index.json") == SetName{"model", "fp16", 0, 0});
    CHECK(parse_index_name("model.safetensors.index.fp16.json") == SetName{"model", "fp16", 0, 0});
    CHECK(parse_index_name("model.safetensors.fp16.index.json") == SetName{"model", "fp16", 0, 0});
    for (const char* name : {"config.json", "model.safetensors", ".model.safetensors.index.json", "index.json", "",
                             "pytorch_model.bin.index.json", "model_index.json"}) {
        INFO(name);
        CHECK_FALSE(parse_index_name(name).has_value());
    }
}

TEST_CASE("a folder's names come in natural order, without the hidden ones") {
    const TemporaryFolder folder;
    for (const char* name : {"b-10", "b-9", ".git", "a"}) write_file(folder / name, "");
    CHECK(names_in(folder.path().string()) == Names{"a", "b-9", "b-10"});
    CHECK(kinds(problems_of([&] { names_in(folder / "none"); })) == "SystemError ");
}

TEST_CASE("a folder without shards has no set") {
    CHECK_FALSE(Layout({}).find().has_value());
    CHECK_FALSE(Layout({"config.json", "pytorch_model.bin", "model.safetensors.incomplete"}).find().has_value());
    CHECK_FALSE(Layout({}).index("pytorch_model.bin.index.json", {"pytorch_model-1.bin"}).find().has_value());
    CHECK_FALSE(Layout({}).index("torch.index.json", {"pytorch_model-1.bin"}).find().has_value());
}

TEST_CASE("an index of any name counts if it names shards") {
    Layout layout({});
    layout.index("any.index.json", {"x.safetensors"});
    REQUIRE(layout.find().has_value());
    CHECK(layout.find()->index_name == "any.index.json");
    CHECK(layout.shards() == Names{"x.safetensors"});
}

TEST_CASE("an index chooses its shards alone, and the rest is noted") {
    Layout layout({"model-00001-of-00001.safetensors", "consolidated.safetensors"});
    layout.index("model.safetensors.index.json", {"model-00001-of-00001.safetensors"});
    CHECK(layout.shards() == Names{"model-00001-of-00001.safetensors"});
    REQUIRE(layout.find()->notes.size() == 1);
    CHECK(contains(layout.find()->notes[0], "consolidated.safetensors"));
    CHECK_FALSE(contains(layout.find()->notes[0], "00001-of-00001"));
}

TEST_CASE("files that an index names belong to its set alone, however they are called") {
    Layout layout({"part1.safetensors", "part2.safetensors"});
    layout.index("model.fp16.safetensors.index.json", {"part1.safetensors", "part2.safetensors"});
    REQUIRE(layout.find().has_value());
    CHECK(layout.find()->index_name == "model.fp16.safetensors.index.json");
    CHECK(layout.find()->notes.empty());
}

TEST_CASE("what was typed chooses the index") {
    Layout layout({"a.safetensors", "b.safetensors"});
    layout.index("a.safetensors.index.json", {"a.safetensors"}).index("b.safetensors.index.json", {"b.safetensors"});
    CHECK(layout.shards({"b.safetensors.index.json", ""}) == Names{"b.safetensors"});
    CHECK(kinds(layout.refusal({"c.safetensors.index.json", ""})) == "NoSuchSource ");
    CHECK(kinds(layout.refusal()) == "AmbiguousSource ");
}

TEST_CASE("the variant is the one that was typed, and else none") {
    const Layout layout({"model.safetensors", "model.fp16.safetensors", "model.bf16.safetensors"});
    CHECK(layout.shards() == Names{"model.safetensors"});
    CHECK(layout.shards(fp16) == Names{"model.fp16.safetensors"});
    const auto problems = layout.refusal({"", "fp8"});
    CHECK(kinds(problems) == "NoSuchSource ");
    CHECK(contains(problems.at(0).text, "model.bf16.safetensors"));
    CHECK(Layout({"model.fp16.safetensors"}).shards() == Names{"model.fp16.safetensors"});
}

TEST_CASE("a variant with an index is found in each form") {
    for (const char* name : {"model.fp16.safetensors.index.json", "model.safetensors.index.fp16.json",
                             "model.safetensors.fp16.index.json"}) {
        INFO(name);
        Layout layout({"model.safetensors", "model.fp16-00001-of-00001.safetensors"});
        layout.index(name, {"model.fp16-00001-of-00001.safetensors"});
        CHECK(layout.shards() == Names{"model.safetensors"});
        CHECK(layout.shards(fp16) == Names{"model.fp16-00001-of-00001.safetensors"});
        CHECK(layout.find(fp16)->index_name == name);
    }
}

TEST_CASE("of well-known bases the first that is there is meant") {
    CHECK(Layout({"adapter_model.safetensors", "model.safetensors", "x.safetensors"}).shards() ==
          Names{"model.safetensors"});
    CHECK(Layout({"adapter_model.safetensors", "consolidated.safetensors"}).shards() ==
          Names{"consolidated.safetensors"});
    CHECK(Layout({"a.safetensors", "pytorch_lora_weights.safetensors"}).shards() ==
          Names{"pytorch_lora_weights.safetensors"});
    CHECK(Layout({"diffusion_pytorch_model.safetensors", "consolidated.safetensors"}).shards() ==
          Names{"diffusion_pytorch_model.safetensors"});
}

TEST_CASE("single files of other names are loose shards of one model") {
    const Layout layout({"layer-10.safetensors", "layer-2.safetensors", "embed.safetensors"});
    CHECK(layout.shards() == Names{"embed.safetensors", "layer-2.safetensors", "layer-10.safetensors"});
    CHECK(layout.find()->notes.empty());
}

TEST_CASE("what nothing decides is ambiguous, and all candidates are named") {
    SECTION("two variants of one base") {
        const auto problems = Layout({"model.bf16.safetensors", "model.fp16.safetensors"}).refusal();
        REQUIRE(kinds(problems) == "AmbiguousSource ");
        CHECK(contains(problems[0].text, "model.bf16.safetensors"));
        CHECK(contains(problems[0].text, "model.fp16.safetensors"));
    }
    SECTION("one base split in two ways") {
        CHECK(kinds(Layout({"model-00001-of-00001.safetensors", "model-00001-of-00002.safetensors"}).refusal()) ==
              "AmbiguousSource ");
    }
    SECTION("two bases that are split") {
        CHECK(kinds(Layout({"a-00001-of-00001.safetensors", "b-00001-of-00001.safetensors"}).refusal()) ==
              "AmbiguousSource ");
    }
}

TEST_CASE("a split is whole: shards of it that are not there are named, to be missed") {
    CHECK(Layout({"model-00001-of-00003.safetensors", "model-00003-of-00003.safetensors"}).shards() ==
          Names{"model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                "model-00003-of-00003.safetensors"});
}

TEST_CASE("a split that claims to be huge is not believed") {
    CHECK(Layout({"model-1-of-18446744073709551615.safetensors"}).shards().size() == 1);
    CHECK(Layout({"model-1-of-99999999999999999999.safetensors"}).shards().size() == 1);
    CHECK(Layout({"model-1-of-4000000000.safetensors"}).shards().size() == 1);
}
