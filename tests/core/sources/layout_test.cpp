#include "tests/core/sources/model_folder.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

const Choice fp16{"", "fp16"};

}  // namespace

TEST_CASE("a folder's names come in natural order, without the hidden ones") {
    const TemporaryFolder folder;
    for (const char* name : {"b-10", "b-9", ".git", "a"}) write_file(folder / name, "");
    CHECK(names_in(folder.path().string()) == Names{"a", "b-9", "b-10"});
    CHECK(kinds(problems_of([&] { names_in(folder / "none"); })) == "SystemError ");
}

TEST_CASE("a folder without shards has no set") {
    CHECK_FALSE(ModelFolder({}).find().has_value());
    CHECK_FALSE(ModelFolder({"config.json", "pytorch_model.bin", "model.safetensors.incomplete"}).find().has_value());
    CHECK_FALSE(ModelFolder({}).index("pytorch_model.bin.index.json", {"pytorch_model-1.bin"}).find().has_value());
    CHECK_FALSE(ModelFolder({}).index("torch.index.json", {"pytorch_model-1.bin"}).find().has_value());
}

TEST_CASE("an index of any name counts if it names shards") {
    ModelFolder folder({});
    folder.index("any.index.json", {"x.safetensors"});
    REQUIRE(folder.find().has_value());
    CHECK(folder.find()->index_name == "any.index.json");
    CHECK(folder.shards() == Names{"x.safetensors"});
}

TEST_CASE("an index chooses its shards alone, and the rest is noted") {
    ModelFolder folder({"model-00001-of-00001.safetensors", "consolidated.safetensors"});
    folder.index("model.safetensors.index.json", {"model-00001-of-00001.safetensors"});
    CHECK(folder.shards() == Names{"model-00001-of-00001.safetensors"});
    REQUIRE(folder.find()->notes.size() == 1);
    CHECK(contains(folder.find()->notes[0], "consolidated.safetensors"));
    CHECK_FALSE(contains(folder.find()->notes[0], "00001-of-00001"));
}

TEST_CASE("files that an index names belong to its set alone, however they are called") {
    ModelFolder folder({"part1.safetensors", "part2.safetensors"});
    folder.index("model.fp16.safetensors.index.json", {"part1.safetensors", "part2.safetensors"});
    REQUIRE(folder.find().has_value());
    CHECK(folder.find()->index_name == "model.fp16.safetensors.index.json");
    CHECK(folder.find()->notes.empty());
}

TEST_CASE("what was typed chooses the index") {
    ModelFolder folder({"a.safetensors", "b.safetensors"});
    folder.index("a.safetensors.index.json", {"a.safetensors"}).index("b.safetensors.index.json", {"b.safetensors"});
    CHECK(folder.shards({"b.safetensors.index.json", ""}) == Names{"b.safetensors"});
    CHECK(kinds(folder.refusal({"c.safetensors.index.json", ""})) == "NoSuchSource ");
    CHECK(kinds(folder.refusal()) == "AmbiguousSource ");
}

TEST_CASE("the variant is the one that was typed, and else none") {
    const ModelFolder folder({"model.safetensors", "model.fp16.safetensors", "model.bf16.safetensors"});
    CHECK(folder.shards() == Names{"model.safetensors"});
    CHECK(folder.shards(fp16) == Names{"model.fp16.safetensors"});
    const auto problems = folder.refusal({"", "fp8"});
    CHECK(kinds(problems) == "NoSuchSource ");
    CHECK(contains(problems.at(0).text, "model.bf16.safetensors"));
    CHECK(ModelFolder({"model.fp16.safetensors"}).shards() == Names{"model.fp16.safetensors"});
}

TEST_CASE("a variant with an index is found in each form") {
    for (const char* name : {"model.fp16.safetensors.index.json", "model.safetensors.index.fp16.json",
                             "model.safetensors.fp16.index.json"}) {
        INFO(name);
        ModelFolder folder({"model.safetensors", "model.fp16-00001-of-00001.safetensors"});
        folder.index(name, {"model.fp16-00001-of-00001.safetensors"});
        CHECK(folder.shards() == Names{"model.safetensors"});
        CHECK(folder.shards(fp16) == Names{"model.fp16-00001-of-00001.safetensors"});
        CHECK(folder.find(fp16)->index_name == name);
    }
}

TEST_CASE("of well-known bases the first that is there is meant") {
    CHECK(ModelFolder({"adapter_model.safetensors", "model.safetensors", "x.safetensors"}).shards() ==
          Names{"model.safetensors"});
    CHECK(ModelFolder({"adapter_model.safetensors", "consolidated.safetensors"}).shards() ==
          Names{"consolidated.safetensors"});
    CHECK(ModelFolder({"a.safetensors", "pytorch_lora_weights.safetensors"}).shards() ==
          Names{"pytorch_lora_weights.safetensors"});
    CHECK(ModelFolder({"diffusion_pytorch_model.safetensors", "consolidated.safetensors"}).shards() ==
          Names{"diffusion_pytorch_model.safetensors"});
}

TEST_CASE("single files of other names are loose shards of one model") {
    const ModelFolder folder({"layer-10.safetensors", "layer-2.safetensors", "embed.safetensors"});
    CHECK(folder.shards() == Names{"embed.safetensors", "layer-2.safetensors", "layer-10.safetensors"});
    CHECK(folder.find()->notes.empty());
}

TEST_CASE("what nothing decides is ambiguous, and all candidates are named") {
    SECTION("two variants of one base") {
        const auto problems = ModelFolder({"model.bf16.safetensors", "model.fp16.safetensors"}).refusal();
        REQUIRE(kinds(problems) == "AmbiguousSource ");
        CHECK(contains(problems[0].text, "model.bf16.safetensors"));
        CHECK(contains(problems[0].text, "model.fp16.safetensors"));
    }
    SECTION("one base split in two ways") {
        CHECK(kinds(ModelFolder({"model-00001-of-00001.safetensors", "model-00001-of-00002.safetensors"}).refusal()) ==
              "AmbiguousSource ");
    }
    SECTION("two bases that are split") {
        CHECK(kinds(ModelFolder({"a-00001-of-00001.safetensors", "b-00001-of-00001.safetensors"}).refusal()) ==
              "AmbiguousSource ");
    }
}

TEST_CASE("a split is whole: shards of it that are not there are named, to be missed") {
    CHECK(ModelFolder({"model-00001-of-00003.safetensors", "model-00003-of-00003.safetensors"}).shards() ==
          Names{"model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                "model-00003-of-00003.safetensors"});
}

TEST_CASE("a split that claims to be huge is not believed") {
    CHECK(ModelFolder({"model-1-of-18446744073709551615.safetensors"}).shards().size() == 1);
    CHECK(ModelFolder({"model-1-of-99999999999999999999.safetensors"}).shards().size() == 1);
    CHECK(ModelFolder({"model-1-of-4000000000.safetensors"}).shards().size() == 1);
}
