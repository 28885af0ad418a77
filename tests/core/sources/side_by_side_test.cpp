#include <filesystem>

#include "core/sources/source.hpp"
#include "tests/core/sources/format_lists.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// Folders in which more lies than one model, or less, as they are met on disks.

namespace {

using Names = std::vector<std::string>;
using Map = std::vector<std::pair<std::string, std::string>>;

/// A folder of shards, each with one byte of a tensor that is named after it.
class Downloads {
public:
    explicit Downloads(const Names& shards) {
        for (const std::string& name : shards) {
            if (name.ends_with(".safetensors")) {
                write_file(folder_ / name, safetensors_file({{"in " + name, "U8", {1}, "x"}}));
            } else {
                write_file(folder_ / name, "{}");
            }
        }
    }
    Downloads& index(const std::string& name, const Names& shards) {
        Map map;
        for (const std::string& shard : shards) map.emplace_back("in " + shard, shard);
        write_file(folder_ / name, index_file(map));
        return *this;
    }

    [[nodiscard]] Model load(const Choice& choice = {}) const {
        return Model::load(find_source(folder_.path().string(), {choice, ""}, only_safetensors));
    }
    [[nodiscard]] Names shards(const Choice& choice = {}) const {
        const Source source = find_source(folder_.path().string(), {choice, ""}, only_safetensors);
        REQUIRE(source.components.size() == 1);
        return source.components[0].shards;
    }
    [[nodiscard]] std::vector<Problem> refusal(const Choice& choice = {}) const {
        return problems_of([&] { static_cast<void>(load(choice)); });
    }
    /// All notes as one text.
    [[nodiscard]] std::string notes(const Choice& choice = {}) const {
        std::string all;
        const Model model = load(choice);
        for (const std::string& note : model.notes()) all += note + '\n';
        return all;
    }
    [[nodiscard]] std::string operator/(std::string_view name) const { return folder_ / name; }

private:
    TemporaryFolder folder_;
};

const Names split_in_two{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"};

}  // namespace

TEST_CASE("every form of an index's name is found by itself, and a torch index beside it is not ours") {
    for (const char* name : {"model.safetensors.index.json", "diffusion_pytorch_model.safetensors.index.json",
                             "consolidated.safetensors.index.json", "any-name_7b.v2.safetensors.index.json",
                             "model.fp16.safetensors.index.json", "model.safetensors.index.fp16.json",
                             "model.safetensors.fp16.index.json", "checkpoint.index.json"}) {
        INFO(name);
        Downloads downloads({"a.safetensors", "b.safetensors"});
        downloads.index(name, {"a.safetensors", "b.safetensors"});
        downloads.index("pytorch_model.bin.index.json", {"pytorch_model-00001-of-00001.bin"});
        CHECK(downloads.shards() == Names{"a.safetensors", "b.safetensors"});
        CHECK(downloads.load().tensors().size() == 2);
    }
}

TEST_CASE("indexes of other formats, and files only named like one, leave the shards as they are") {
    Downloads downloads({"model.safetensors"});
    downloads.index("pytorch_model.bin.index.json", {"pytorch_model-00001-of-00001.bin"});
    downloads.index("pytorch_model.bin.index.fp16.json", {"pytorch_model.fp16-00001-of-00001.bin"});
    downloads.index("tf_model.h5.index.json", {"tf_model-00001-of-00001.h5"});
    downloads.index("flax_model.msgpack.index.json", {"flax_model-00001-of-00001.msgpack"});
    write_file(downloads / "search.index.json", R"({"documents": []})");
    write_file(downloads / "broken.index.json", "{");
    write_file(downloads / "empty.index.json", "");
    CHECK(downloads.shards() == Names{"model.safetensors"});
    CHECK(downloads.notes().empty());
}

TEST_CASE("an index that cannot be read is told, even where the shards would do without it") {
    const Downloads downloads(split_in_two);
    write_file(downloads / "model.safetensors.index.json", "{\"weight_map\":");
    const auto problems = downloads.refusal();
    REQUIRE(kinds(problems) == "InvalidIndex ");
    CHECK(problems[0].path == downloads / "model.safetensors.index.json");
}

TEST_CASE("consolidated weights beside a model are passed over, which a note says") {
    Downloads downloads({split_in_two[0], split_in_two[1], "consolidated.safetensors"});
    CHECK(downloads.shards() == split_in_two);
    CHECK(contains(downloads.notes(), "consolidated.safetensors"));
    downloads.index("model.safetensors.index.json", split_in_two);
    CHECK(downloads.shards() == split_in_two);
    CHECK(contains(downloads.notes(), "consolidated.safetensors"));
    CHECK_FALSE(contains(downloads.notes(), "00001-of-00002.safetensors"));
}

TEST_CASE("consolidated shards with an index beside a model with one are passed over, unless they are asked for") {
    const Names consolidated{"consolidated-00001-of-00002.safetensors", "consolidated-00002-of-00002.safetensors"};
    Downloads downloads({split_in_two[0], split_in_two[1], consolidated[0], consolidated[1]});
    downloads.index("model.safetensors.index.json", split_in_two);
    downloads.index("consolidated.safetensors.index.json", consolidated);
    CHECK(downloads.shards() == split_in_two);
    CHECK(contains(downloads.notes(), "consolidated.safetensors.index.json"));
    CHECK(downloads.shards({"consolidated.safetensors.index.json", ""}) == consolidated);
    CHECK(downloads.load({"consolidated.safetensors.index.json", ""}).tensors().size() == 2);
}

TEST_CASE("two splits of one model side by side are refused, and both are named") {
    const Downloads downloads({split_in_two[0], split_in_two[1], "model-00001-of-00003.safetensors",
                               "model-00002-of-00003.safetensors", "model-00003-of-00003.safetensors"});
    const auto problems = downloads.refusal();
    REQUIRE(kinds(problems) == "AmbiguousSource ");
    CHECK(contains(problems[0].text, "of-00002.safetensors"));
    CHECK(contains(problems[0].text, "of-00003.safetensors"));
}

TEST_CASE("of two splits side by side the index chooses, and a note names the other") {
    Downloads downloads({split_in_two[0], split_in_two[1], "model-00001-of-00001.safetensors"});
    downloads.index("model.safetensors.index.json", split_in_two);
    CHECK(downloads.shards() == split_in_two);
    CHECK(contains(downloads.notes(), "model-00001-of-00001.safetensors"));
}

TEST_CASE("a whole model beside its own shards and their index is passed over, which a note says") {
    Downloads downloads({split_in_two[0], split_in_two[1], "model.safetensors"});
    downloads.index("model.safetensors.index.json", split_in_two);
    CHECK(downloads.shards() == split_in_two);
    CHECK(contains(downloads.notes(), "\"model.safetensors\""));
}

TEST_CASE("a whole model and a split of it without an index are two candidates") {
    const auto problems = Downloads({split_in_two[0], split_in_two[1], "model.safetensors"}).refusal();
    REQUIRE(kinds(problems) == "AmbiguousSource ");
    CHECK(contains(problems[0].text, "\"model.safetensors\""));
    CHECK(contains(problems[0].text, "model-00001-of-00002.safetensors"));
}

TEST_CASE("every shard that a split without an index lacks is missing by name") {
    const Downloads downloads({"model-00002-of-00005.safetensors", "model-00004-of-00005.safetensors"});
    const auto problems = downloads.refusal();
    REQUIRE(kinds(problems) == "MissingShard MissingShard MissingShard ");
    CHECK(problems[0].path == downloads / "model-00001-of-00005.safetensors");
    CHECK(problems[1].path == downloads / "model-00003-of-00005.safetensors");
    CHECK(problems[2].path == downloads / "model-00005-of-00005.safetensors");
}

TEST_CASE("a split that counts from zero is whole as it is") {
    const Names shards{"model-00000-of-00002.safetensors", "model-00001-of-00002.safetensors"};
    CHECK(Downloads(shards).shards() == shards);
}

TEST_CASE("loose shards are one model, with or without dots in their names") {
    CHECK(Downloads({"a.safetensors", "b-7.safetensors"}).load().tensors().size() == 2);
    CHECK(Downloads({"weights.00.safetensors", "weights.01.safetensors"}).load().tensors().size() == 2);
}

TEST_CASE("a file a layer is one model, though names without a dot lie beside names with some") {
    const Names shards{"lm_head.safetensors", "model.embed_tokens.safetensors", "model.layers.0.safetensors",
                       "model.layers.1.safetensors", "model.norm.safetensors"};
    CHECK(Downloads(shards).load().tensors().size() == shards.size());
}

TEST_CASE("an adapter is a model, by itself and behind the model that it lies beside") {
    CHECK(Downloads({"adapter_config.json", "adapter_model.safetensors"}).shards() ==
          Names{"adapter_model.safetensors"});
    const Downloads both({"adapter_model.safetensors", "model.safetensors"});
    CHECK(both.shards() == Names{"model.safetensors"});
    CHECK(contains(both.notes(), "adapter_model.safetensors"));
}

TEST_CASE("a variant that is not there is refused with what there is") {
    const Downloads downloads({"model.safetensors", "model.fp16.safetensors"});
    CHECK(downloads.load({"", "fp16"}).tensors().at(0).name() == "in model.fp16.safetensors");
    const auto problems = downloads.refusal({"", "fp61"});
    REQUIRE(kinds(problems) == "NoSuchSource ");
    CHECK(contains(problems[0].text, "fp61"));
    CHECK(contains(problems[0].text, "model.fp16.safetensors"));
}

TEST_CASE("an index that is asked for is refused unless it lies in the folder and is one of ours") {
    Downloads downloads({"model.safetensors"});
    downloads.index("pytorch_model.bin.index.json", {"pytorch_model-00001-of-00001.bin"});
    CHECK(kinds(downloads.refusal({"pytorch_model.bin.index.json", ""})) == "InvalidIndex ");
    CHECK(kinds(downloads.refusal({"../model.safetensors.index.json", ""})) == "NoSuchSource ");
    CHECK(kinds(downloads.refusal({"model.safetensors", ""})) == "InvalidIndex ");
}
