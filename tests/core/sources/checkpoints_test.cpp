#include "tests/core/sources/model_folder.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// Folders of PyTorch checkpoints and NumPy arrays, and of several formats.

namespace {

ModelFolder of_all(const Names& files) { return ModelFolder(files, all_formats); }

const Choice fp16{"", "fp16"};
const Names split{"pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"};

}  // namespace

TEST_CASE("each name of a checkpoint is found by itself") {
    for (const char* name :
         {"pytorch_model.bin", "diffusion_pytorch_model.bin", "adapter_model.bin", "pytorch_lora_weights.bin",
          "open_clip_pytorch_model.bin", "model.pt", "G_2333.pth", "epoch=3-step=9.ckpt", "weights.npz", "a.npy"}) {
        INFO(name);
        CHECK(of_all({name, "config.json", "training_args.bin", "optimizer.pt", "rng_state.pth", "model.bin"})
                  .only_set() == Names{name});
    }
    CHECK(kinds(of_all({"training_args.bin", "optimizer.pt", "optimizer.bin", "rng_state_0.pth", "scheduler.pt",
                        "scaler.pt", "model.bin"})
                    .refusal()) == "NotAModel ");
}

TEST_CASE("a folder without a model says which files would have been one") {
    const auto problems = of_all({"config.json"}).refusal();
    REQUIRE(kinds(problems) == "NotAModel ");
    for (const char* suffix : {".safetensors", ".gguf", ".pt", ".pth", ".ckpt", ".bin", ".npz", ".npy"})
        CHECK(contains(problems[0].text, suffix));
}

TEST_CASE("a split checkpoint is whole, with an index and without") {
    CHECK(of_all(split).only_set() == split);
    CHECK(of_all({split[1]}).only_set() == split);
    ModelFolder folder = of_all(split);
    folder.index("pytorch_model.bin.index.json", split);
    CHECK(folder.only_set() == split);
    CHECK(folder.find()->index_name == "pytorch_model.bin.index.json");
    CHECK(find_source(folder / "pytorch_model.bin.index.json", {}, all_formats).components.at(0).shards == split);
    CHECK(kinds(problems_of([&] { find_source(folder / "pytorch_model.bin.index.json", {}, only_safetensors); })) ==
          "InvalidIndex InvalidIndex ");
}

TEST_CASE("variants of checkpoints are found in each form") {
    CHECK(of_all({"pytorch_model.bin", "pytorch_model.fp16.bin"}).only_set(fp16) == Names{"pytorch_model.fp16.bin"});
    for (const char* name : {"pytorch_model.bin.index.fp16.json", "pytorch_model.fp16.bin.index.json"}) {
        INFO(name);
        ModelFolder folder = of_all({"pytorch_model.bin", "pytorch_model.fp16-00001-of-00001.bin"});
        folder.index(name, {"pytorch_model.fp16-00001-of-00001.bin"});
        CHECK(folder.only_set() == Names{"pytorch_model.bin"});
        CHECK(folder.only_set(fp16) == Names{"pytorch_model.fp16-00001-of-00001.bin"});
    }
}

TEST_CASE("both places of a variant in a split's names are one split, in every format") {
    for (const char* end : {".safetensors", ".bin"}) {
        INFO(end);
        const std::string base = end == std::string(".bin") ? "pytorch_model" : "model";
        const Names behind{base + "-00001-of-00002.fp16" + end, base + "-00002-of-00002.fp16" + end};
        CHECK(of_all(behind).only_set() == behind);
        CHECK(of_all(behind).only_set(fp16) == behind);
        CHECK(of_all({behind[0]}).only_set() == behind);
        CHECK(of_all({behind[1]}).only_set() == behind);
        CHECK(of_all({behind[1], base + end}).only_set() == Names{base + end});
        const Names mixed{behind[0], base + ".fp16-00002-of-00002" + end};
        CHECK(of_all(mixed).only_set() == mixed);
    }
}

TEST_CASE("formats go in the order of their table, and a note says what was passed over") {
    Names files{"model.safetensors", "Name-Q4_0.gguf", "pytorch_model.bin", "weights.npz"};
    while (files.size() > 1) {
        const ModelFolder folder = of_all(files);
        INFO(files[0]);
        CHECK(folder.only_set() == Names{files[0]});
        for (std::size_t i = 1; i < files.size(); ++i) CHECK(contains(folder.notes(), files[i]));
        files.erase(files.begin());
    }
}

TEST_CASE("an index of another format without its shards is not worth a word, and one with some is") {
    ModelFolder folder = of_all({"model.safetensors"});
    folder.index("pytorch_model.bin.index.json", split);
    CHECK(folder.only_set() == Names{"model.safetensors"});
    CHECK(folder.notes().empty());
    write_file(folder / split[0], "");
    CHECK(contains(folder.notes(), "pytorch_model.bin.index.json"));
}

TEST_CASE("a whole model of another format is what is there instead of missing shards") {
    ModelFolder folder = of_all({"pytorch_model.bin"});
    folder.index("model.safetensors.index.json", {"model-00001-of-00001.safetensors"});
    CHECK(folder.only_set() == Names{"model-00001-of-00001.safetensors"});
    CHECK(folder.source().components.at(0).instead == folder / "pytorch_model.bin");
}

TEST_CASE("pieces of the same tensors are refused with a word, and one by itself is a model") {
    const ModelFolder folder = of_all({"consolidated.00.pth", "consolidated.01.pth", "params.json"});
    const auto problems = folder.refusal();
    REQUIRE(kinds(problems) == "DuplicateName ");
    CHECK(contains(problems[0].text, "consolidated.00.pth"));
    CHECK(contains(problems[0].text, "a piece of every tensor"));
    CHECK(of_all({"consolidated.00.pth", "tokenizer.model"}).only_set() == Names{"consolidated.00.pth"});
    CHECK(find_source(folder / "consolidated.01.pth", {}, all_formats).components.at(0).shards ==
          Names{"consolidated.01.pth"});
    CHECK(of_all({"model.safetensors", "consolidated.00.pth", "consolidated.01.pth"}).only_set() ==
          Names{"model.safetensors"});
    CHECK(kinds(of_all({"original/consolidated.00.pth", "original/consolidated.01.pth"}).refusal()) ==
          "DuplicateName ");
}

TEST_CASE("checkpoints side by side are ambiguous, and arrays side by side are one model") {
    CHECK(kinds(of_all({"a.pt", "b.pt"}).refusal()) == "AmbiguousSource ");
    CHECK(kinds(of_all({"a.npz", "b.npz"}).refusal()) == "AmbiguousSource ");
    CHECK(of_all({"a.npy", "b.npy"}).only_set() == Names{"a.npy", "b.npy"});
    CHECK(of_all({"weights.npz", "a.npy"}).only_set() == Names{"weights.npz"});
}

TEST_CASE("components of a pipeline may be of any format, each with its own order") {
    const ModelFolder folder =
        of_all({"model_index.json", "unet/diffusion_pytorch_model.bin", "unet/diffusion_pytorch_model.fp16.bin",
                "text_encoder/pytorch_model.bin", "text_encoder/model.safetensors", "v1.ckpt", "v1.safetensors"});
    const Source source = folder.source();
    REQUIRE(source.components.size() == 2);
    CHECK(source.components[0].shards == Names{"model.safetensors"});
    CHECK(source.components[1].shards == Names{"diffusion_pytorch_model.bin"});
    CHECK(contains(folder.notes(), ".ckpt and .safetensors files beside them are passed over"));
    CHECK(folder.source(fp16).components.at(1).shards == Names{"diffusion_pytorch_model.fp16.bin"});
    CHECK(contains(folder.notes(fp16), "text_encoder"));
}

TEST_CASE("an index names the files of one format") {
    ModelFolder folder = of_all({});
    folder.index("any.index.json", {"a.bin", "b.bin"});
    CHECK(folder.only_set() == Names{"a.bin", "b.bin"});
    folder.index("any.index.json", {"a.bin", "b.safetensors"});
    CHECK(kinds(problems_of([&] { find_source(folder / "any.index.json", {}, all_formats); })) == "InvalidIndex ");
    folder.index("model.safetensors.index.json", {"a.bin"});
    CHECK(kinds(folder.refusal()) == "InvalidIndex ");
    folder.index("any.index.json", {"a.gguf"});
    CHECK(kinds(problems_of([&] { find_source(folder / "any.index.json", {}, all_formats); })) == "InvalidIndex ");
}
