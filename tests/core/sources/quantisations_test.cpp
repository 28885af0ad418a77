#include "tests/core/sources/model_folder.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// Folders of GGUF files, as they are downloaded from the Hub.

namespace {

ModelFolder gguf(const Names& files) { return ModelFolder(files, all_formats); }

Choice variant(const std::string& name) { return {"", name}; }

const Names split{"Name-Q8_0-00001-of-00003.gguf", "Name-Q8_0-00002-of-00003.gguf", "Name-Q8_0-00003-of-00003.gguf"};

}  // namespace

TEST_CASE("one GGUF file in a folder is the model, whatever it is called") {
    for (const char* name : {"Name-Q4_K_M.gguf", "name.q4_0.gguf", "model.gguf", "mmproj-F16.gguf", "Q4_0.gguf"}) {
        INFO(name);
        CHECK(gguf({name, "README.md", "config.json"}).only_set() == Names{name});
    }
}

TEST_CASE("quantisations side by side are ambiguous, and the variant chooses, in any case") {
    const ModelFolder folder = gguf({"Name-Q4_K_M.gguf", "Name-q8_0.gguf", "Name-F16.gguf", "Name-UD-Q4_K_XL.gguf"});
    const auto problems = folder.refusal();
    REQUIRE(kinds(problems) == "AmbiguousSource ");
    for (const char* name : {"Name-Q4_K_M.gguf", "Name-q8_0.gguf", "Name-F16.gguf", "-o variant="})
        CHECK(contains(problems[0].text, name));
    CHECK(folder.only_set(variant("Q4_K_M")) == Names{"Name-Q4_K_M.gguf"});
    CHECK(folder.only_set(variant("q4_k_m")) == Names{"Name-Q4_K_M.gguf"});
    CHECK(folder.only_set(variant("Q8_0")) == Names{"Name-q8_0.gguf"});
    CHECK(folder.only_set(variant("f16")) == Names{"Name-F16.gguf"});
    CHECK(folder.only_set(variant("UD-Q4_K_XL")) == Names{"Name-UD-Q4_K_XL.gguf"});
    CHECK(folder.only_set(variant("Q4_K_XL")) == Names{"Name-UD-Q4_K_XL.gguf"});
    CHECK(contains(folder.notes(variant("F16")), "Name-Q4_K_M.gguf"));
    for (const char* name : {"Q4_K", "K_M", "4_K_M", "Q2_K", ""}) {
        INFO(name);
        CHECK_FALSE(folder.refusal(variant(name)).empty());
    }
    CHECK(kinds(folder.refusal(variant("Q2_K"))) == "NoSuchSource ");
    CHECK(gguf({"name_Q4_0.gguf", "name_Q8_0.gguf"}).only_set(variant("q8_0")) == Names{"name_Q8_0.gguf"});
}

TEST_CASE("quantisations behind a dot are told apart as well") {
    const ModelFolder folder = gguf({"name.Q4_K_M.gguf", "name.Q8_0.gguf", "name.gguf"});
    CHECK(kinds(folder.refusal()) == "AmbiguousSource ");
    CHECK(folder.only_set(variant("Q4_K_M")) == Names{"name.Q4_K_M.gguf"});
}

TEST_CASE("a split is one model, of which missing parts are named") {
    CHECK(gguf(split).only_set() == split);
    CHECK(gguf({split[1]}).only_set() == split);
    const ModelFolder two = gguf({split[0], split[1], split[2], "Name-Q4_K_M-00001-of-00001.gguf"});
    CHECK(kinds(two.refusal()) == "AmbiguousSource ");
    CHECK(two.only_set(variant("q8_0")) == split);
}

TEST_CASE("the path of a split's first part stands for the split, and of another for that part") {
    const ModelFolder folder = gguf(split);
    CHECK(find_source(folder / split[0], {}, all_formats).components.at(0).shards == split);
    CHECK(find_source(folder / split[1], {}, all_formats).components.at(0).shards == Names{split[1]});
    const ModelFolder safetensors({"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"});
    CHECK(find_source(safetensors / "model-00001-of-00002.safetensors", {}, all_formats).components.at(0).shards ==
          Names{"model-00001-of-00002.safetensors"});
}

TEST_CASE("a folder for each quantisation is one question, not a pipeline") {
    const ModelFolder folder =
        gguf({"Q8_0/" + split[0], "Q8_0/" + split[1], "Q8_0/" + split[2], "Q4_K_M/Name-Q4_K_M.gguf", "IQ2/Name.gguf"});
    const auto problems = folder.refusal();
    REQUIRE(kinds(problems) == "AmbiguousSource ");
    CHECK(contains(problems[0].text, "Q4_K_M/Name-Q4_K_M.gguf"));
    CHECK(contains(problems[0].text, "Q8_0/Name-Q8_0-00001-of-00003.gguf\" and 2 more"));
    CHECK(folder.only_set(variant("q8_0")) == Names{"Q8_0/" + split[0], "Q8_0/" + split[1], "Q8_0/" + split[2]});
    CHECK(folder.only_set(variant("IQ2")) == Names{"IQ2/Name.gguf"});
    CHECK(gguf({"Q8_0/" + split[1], "README.md"}).only_set() ==
          Names{"Q8_0/" + split[0], "Q8_0/" + split[1], "Q8_0/" + split[2]});
}

TEST_CASE("quantisations in the folder and in folders below are chosen among together") {
    const ModelFolder folder = gguf({"Name-Q4_K_M.gguf", "Name-BF16/Name-BF16-00001-of-00001.gguf"});
    CHECK(kinds(folder.refusal()) == "AmbiguousSource ");
    CHECK(folder.only_set(variant("bf16")) == Names{"Name-BF16/Name-BF16-00001-of-00001.gguf"});
    CHECK(folder.only_set(variant("Q4_K_M")) == Names{"Name-Q4_K_M.gguf"});
}

TEST_CASE("a pipeline may have components of GGUF beside others") {
    const ModelFolder folder = gguf({"transformer/flux-Q4_0.gguf", "vae/diffusion_pytorch_model.safetensors"});
    const Source source = folder.source();
    REQUIRE(source.components.size() == 2);
    CHECK(source.components[0].name == "transformer");
    CHECK(source.components[0].shards == Names{"flux-Q4_0.gguf"});
    const ModelFolder with_file = gguf({"model_index.json", "a/x-Q4_0.gguf", "b/y-Q4_0.gguf", "whole.gguf"});
    CHECK(with_file.source().components.size() == 2);
    CHECK(contains(with_file.notes(), ".gguf files beside them are passed over"));
}

TEST_CASE("what belongs to a model is passed over with a note, and shown where its path is given") {
    for (const char* name :
         {"mmproj-Name-F16.gguf", "mmproj.gguf", "Name-mmproj-f16.gguf", "mtp-Name-Q8_0.gguf", "Name-imatrix.gguf",
          "imatrix.gguf", "Name.imatrix.gguf", "ggml-vocab-llama.gguf", "Name-v1-F16-LoRA.gguf", "Name-lora.gguf"}) {
        INFO(name);
        const ModelFolder folder = gguf({"Name-Q4_K_M.gguf", name});
        CHECK(folder.only_set() == Names{"Name-Q4_K_M.gguf"});
        CHECK(contains(folder.notes(), name));
        CHECK(find_source(folder / name, {}, all_formats).components.at(0).shards == Names{name});
        CHECK(gguf({name}).only_set() == Names{name});
        CHECK(gguf({name, "pytorch_model.bin"}).only_set() == Names{"pytorch_model.bin"});
    }
    const ModelFolder folder = gguf({"mmproj-F16.gguf", "Name-F16.gguf"});
    CHECK(folder.only_set(variant("F16")) == Names{"Name-F16.gguf"});
    CHECK(kinds(gguf({"mmproj-F16.gguf", "Name-Q4_0.gguf"}).refusal(variant("F16"))) == "NoSuchSource ");
}

TEST_CASE("safetensors goes before GGUF, which the variant can still choose") {
    const ModelFolder folder = gguf({"model.safetensors", "Name-Q4_K_M.gguf", "Name-Q8_0.gguf"});
    CHECK(folder.only_set() == Names{"model.safetensors"});
    CHECK(contains(folder.notes(), "Name-Q4_K_M.gguf"));
    CHECK(folder.only_set(variant("Q8_0")) == Names{"Name-Q8_0.gguf"});
}
