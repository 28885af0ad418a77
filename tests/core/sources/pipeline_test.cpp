#include <algorithm>
#include <filesystem>
#include <set>

#include "core/model/tree.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

/// A shard with tensors of one byte.
std::string shard_of(const Names& tensors) {
    std::vector<Sample> samples;
    for (const std::string& name : tensors) samples.push_back({name, "U8", {1}, "x"});
    return safetensors_file(samples);
}

/// A diffusers pipeline: the tensors' names repeat in its components.
class Pipeline {
public:
    Pipeline() {
        write_file(folder_ / "model_index.json", R"({"_class_name": "StableDiffusionPipeline"})");
        add("unet/diffusion_pytorch_model.safetensors", {"conv.weight", "conv.bias"});
        add("vae/diffusion_pytorch_model.safetensors", {"conv.weight"});
        add("text_encoder/model.safetensors", {"conv.weight", "embed"});
        write_file(folder_ / "scheduler/scheduler_config.json", "{}");
        write_file(folder_ / "tokenizer/vocab.json", "{}");
    }
    void add(const std::string& name, const Names& tensors) const { write_file(folder_ / name, shard_of(tensors)); }

    [[nodiscard]] Model load(const std::string& variant = "") const {
        return Model::load(find_source(path(), {{"", variant}, ""}));
    }
    [[nodiscard]] std::vector<Problem> refusal(const Choice& choice = {}) const {
        return problems_of([&] { Model::load(find_source(path(), {choice, ""})); });
    }
    [[nodiscard]] std::string path() const { return folder_.path().string(); }
    [[nodiscard]] std::string operator/(std::string_view name) const { return folder_ / name; }

private:
    TemporaryFolder folder_;
};

std::set<std::string> full_names(const Model& model) {
    std::set<std::string> names;
    for (const Tensor& tensor : model.tensors()) names.emplace(tensor.full_name());
    return names;
}

std::set<std::string> files_of(const Model& model, std::string_view separators) {
    const Tree tree(model, separators);
    std::set<std::string> paths;
    for (Tree::Position node = 0; node < tree.size(); ++node) {
        if (!tree.is_folder(node)) paths.insert(tree.path(node));
    }
    return paths;
}

std::set<std::string> root_of(const Model& model, std::string_view separators) {
    const Tree tree(model, separators);
    std::set<std::string> names;
    for (Tree::Position node = 1; node < tree.size(); ++node) {
        if (tree.parent(node) == Tree::root) names.emplace(tree.name(node));
    }
    return names;
}

std::string notes_of(const Model& model) {
    std::string all;
    for (const std::string& note : model.notes()) all += note + '\n';
    return all;
}

const std::set<std::string> usual{"text_encoder/conv.weight", "text_encoder/embed", "unet/conv.bias",
                                  "unet/conv.weight", "vae/conv.weight"};

}  // namespace

TEST_CASE("each component of a pipeline has names of its own, which may repeat in others") {
    const Pipeline pipeline;
    const Model model = pipeline.load();
    CHECK(full_names(model) == usual);
    CHECK(model.tensors().size() == usual.size());
    CHECK(model.notes().empty());
    CHECK(model.nbytes() == 5);
    for (const std::uint32_t i : model.by_name()) {
        const Tensor& tensor = model.tensors()[i];
        const std::string component(tensor.full_name().substr(0, tensor.prefix() - 1));
        CHECK(fs::path(model.shard_path(tensor)).parent_path() == pipeline / component);
    }
}

TEST_CASE("folders of models without model_index.json are a pipeline as well") {
    const Pipeline pipeline;
    fs::remove(pipeline / "model_index.json");
    CHECK(full_names(pipeline.load()) == usual);
}

TEST_CASE("the components are the root's folders, whatever separates names") {
    const Model model = Pipeline().load();
    const std::set<std::string> components{"text_encoder", "unet", "vae"};
    for (const char* separators : {"./", ".", "/", "", "_"}) {
        INFO('"' << separators << '"');
        CHECK(root_of(model, separators) == components);
        CHECK(files_of(model, separators).size() == usual.size());
    }
    CHECK(files_of(model, "./").contains("unet/conv/weight"));
    CHECK(files_of(model, "") == usual);
    CHECK(files_of(model, "_") == usual);
}

TEST_CASE("a component's folder name is one segment, with dots and whatever else is in it") {
    const Pipeline pipeline;
    pipeline.add("text.encoder.2/model.safetensors", {"w", ""});
    pipeline.add("100%/model.safetensors", {"w"});
    pipeline.add("new\nline/model.safetensors", {"w"});
    const std::set<std::string> files = files_of(pipeline.load(), "./");
    CHECK(files.contains("text.encoder.2/w"));
    CHECK(files.contains("text.encoder.2/%"));
    CHECK(files.contains("100%25/w"));
    CHECK(files.contains("new%0Aline/w"));
    CHECK(files.size() == usual.size() + 4);
}

TEST_CASE("a tensor's name that looks like a way out stays in its component") {
    const Pipeline pipeline;
    pipeline.add("vae/diffusion_pytorch_model.safetensors", {"../unet/x", "/unet/y", "..", ".tensorfs"});
    const std::set<std::string> files = files_of(pipeline.load(), "./");
    CHECK(std::count_if(files.begin(), files.end(), [](const std::string& path) { return path.starts_with("vae/"); }) ==
          4);
    CHECK(root_of(pipeline.load(), "./") == std::set<std::string>{"text_encoder", "unet", "vae"});
}

TEST_CASE("components whose names begin alike are told apart") {
    const Pipeline pipeline;
    pipeline.add("text_encoder_2/model.safetensors", {"conv.weight"});
    pipeline.add("text_encoder.2/model.safetensors", {"conv.weight"});
    pipeline.add("text_encoder-2/model.safetensors", {"conv.weight"});
    const Model model = pipeline.load();
    CHECK(model.tensors().size() == usual.size() + 3);
    for (const Tensor& tensor : model.tensors()) {
        const std::string component(tensor.full_name().substr(0, tensor.prefix() - 1));
        CHECK(fs::path(model.shard_path(tensor)).parent_path() == pipeline / component);
    }
}

TEST_CASE("a component that has the variant is shown in it, and one that has not as it is") {
    const Pipeline pipeline;
    pipeline.add("unet/diffusion_pytorch_model.fp16.safetensors", {"half"});
    const std::set<std::string> names = full_names(pipeline.load("fp16"));
    CHECK(names ==
          std::set<std::string>{"text_encoder/conv.weight", "text_encoder/embed", "unet/half", "vae/conv.weight"});
    CHECK(full_names(pipeline.load()) == usual);
    CHECK(contains(notes_of(pipeline.load()), "unet: "));
}

TEST_CASE("components that are taken without the variant are named") {
    const Pipeline pipeline;
    pipeline.add("unet/diffusion_pytorch_model.fp16.safetensors", {"half"});
    CHECK(contains(notes_of(pipeline.load("fp16")), "text_encoder, vae"));
}

TEST_CASE("bad indexes of components are all told, and with partial the other components are shown") {
    const Pipeline pipeline;
    write_file(pipeline / "unet/diffusion_pytorch_model.safetensors.index.json", "[]");
    write_file(pipeline / "vae/diffusion_pytorch_model.safetensors.index.json",
               R"({"weight_map":{"a":"/etc/x.safetensors"}})");
    fs::remove(pipeline / "text_encoder/model.safetensors");
    CHECK(kinds(pipeline.refusal()) == "InvalidIndex InvalidShardPath ");
    pipeline.add("text_encoder/model.safetensors", {"embed"});
    CHECK(kinds(pipeline.refusal()) == "InvalidIndex InvalidShardPath ");
    const Model model = Model::load(find_source(pipeline.path()), OnProblem::leave_out);
    CHECK(full_names(model) == std::set<std::string>{"text_encoder/embed"});
    CHECK(kinds(model.problems()) == "InvalidIndex InvalidShardPath ");
}

TEST_CASE("in a file there is nothing to choose") {
    const Pipeline pipeline;
    const std::string file = pipeline / "vae/diffusion_pytorch_model.safetensors";
    CHECK(find_source(file).components.size() == 1);
    CHECK(kinds(problems_of([&] { find_source(file, {{"", "fp16"}, ""}); })) == "NoSuchSource ");
    CHECK(kinds(problems_of([&] { find_source(file, {{"x.json", ""}, ""}); })) == "NoSuchSource ");
    CHECK(kinds(problems_of([&] { find_source(file, {{}, "main"}); })) == "NoSuchSource ");
}

TEST_CASE("a variant that no component has is refused") {
    CHECK(kinds(Pipeline().refusal({"", "fp61"})) == "NoSuchSource ");
}

TEST_CASE("an index that is asked for is the model, in a pipeline too") {
    const Pipeline pipeline;
    pipeline.add("whole.safetensors", {"w"});
    write_file(pipeline / "whole.safetensors.index.json", index_file({{"w", "whole.safetensors"}}));
    const Source source = find_source(pipeline.path(), {{"whole.safetensors.index.json", ""}, ""});
    REQUIRE(source.components.size() == 1);
    CHECK(source.components[0].shards == Names{"whole.safetensors"});
    CHECK(kinds(pipeline.refusal({"none.safetensors.index.json", ""})) == "NoSuchSource ");
}

TEST_CASE("a component's index and shards are its own") {
    const Pipeline pipeline;
    fs::remove(pipeline / "unet/diffusion_pytorch_model.safetensors");
    pipeline.add("unet/diffusion_pytorch_model-00001-of-00002.safetensors", {"conv.weight"});
    pipeline.add("unet/diffusion_pytorch_model-00002-of-00002.safetensors", {"conv.bias"});
    const std::string index = pipeline / "unet/diffusion_pytorch_model.safetensors.index.json";
    write_file(index, index_file({{"conv.weight", "diffusion_pytorch_model-00001-of-00002.safetensors"},
                                  {"conv.bias", "diffusion_pytorch_model-00002-of-00002.safetensors"}}));
    CHECK(full_names(pipeline.load()) == usual);
    fs::remove(pipeline / "unet/diffusion_pytorch_model-00001-of-00002.safetensors");
    fs::remove(pipeline / "vae/diffusion_pytorch_model.safetensors");
    write_file(pipeline / "vae/diffusion_pytorch_model.safetensors", "");
    const auto problems = pipeline.refusal();
    REQUIRE(kinds(problems) == "MissingShard HeaderTooSmall ");
    CHECK(problems[0].path == pipeline / "unet/diffusion_pytorch_model-00001-of-00002.safetensors");
    CHECK(problems[1].path == pipeline / "vae/diffusion_pytorch_model.safetensors");
}

TEST_CASE("a checkpoint beside the components is passed over, which a note says") {
    const Pipeline pipeline;
    pipeline.add("v1-5-pruned.safetensors", {"whole"});
    const Model model = pipeline.load();
    CHECK(full_names(model) == usual);
    CHECK(contains(notes_of(model), ".safetensors files beside them are passed over"));
}

TEST_CASE("a folder with shards of its own is a model, though folders in it have some too") {
    const TemporaryFolder folder;
    write_file(folder / "model.safetensors", shard_of({"w"}));
    write_file(folder / "original/consolidated.safetensors", shard_of({"other"}));
    CHECK(full_names(load(folder.path().string())) == std::set<std::string>{"w"});
}

TEST_CASE("folders in a pipeline that lead in circles or nowhere are passed over") {
    const Pipeline pipeline;
    fs::create_directory_symlink(".", pipeline / "again");
    fs::create_directory_symlink("loop", pipeline / "loop");
    fs::create_directory_symlink("none", pipeline / "nowhere");
    CHECK(full_names(pipeline.load()) == usual);
}
