#include "core/exporting/plan.hpp"

#include <nlohmann/json.hpp>

#include "tests/core/exporting/exporting.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

/// A model of U8 tensors of these sizes, named a, b, …
struct Sizes {
    TemporaryFolder folder;
    Model model;

    explicit Sizes(const std::vector<std::uint64_t>& sizes) : model(make(sizes)) {}

    Model make(const std::vector<std::uint64_t>& sizes) const {
        std::vector<Sample> samples;
        for (const std::uint64_t size : sizes) {
            const std::string name(1, static_cast<char>('a' + samples.size()));
            samples.push_back({name, "U8", {size}, std::string(size, 'x')});
        }
        write_file(folder / "m.safetensors", safetensors_file(samples));
        return load(folder / "m.safetensors");
    }

    /// The names of the tensors of each file.
    [[nodiscard]] std::vector<std::string> cut(std::uint64_t max_shard_size) const {
        ExportOptions options;
        options.max_shard_size = max_shard_size;
        std::vector<std::string> all;
        for (const PlannedFile& file : plan_all(model, options).files) {
            std::string& names = all.emplace_back();
            for (const FileTensor& tensor : file.tensors) names += tensor.tensor->name();
        }
        return all;
    }
};

using Cut = std::vector<std::string>;

}  // namespace

TEST_CASE("shards are cut as huggingface_hub cuts them") {
    CHECK(Sizes({6, 6, 2, 6, 2, 2}).cut(10) == Cut{"a", "bc", "def"});  // the example of its documentation
    CHECK(Sizes({5, 5, 1}).cut(10) == Cut{"ab", "c"});
    CHECK(Sizes({11, 5, 5}).cut(10) == Cut{"a", "bc"});
    CHECK(Sizes({5, 11, 5}).cut(10) == Cut{"b", "ac"});  // a large one stands before the shard that goes on
    CHECK(Sizes({0, 0}).cut(1) == Cut{"ab"});
    CHECK(Sizes({1, 0, 1}).cut(1) == Cut{"ab", "c"});
}

TEST_CASE("several shards are numbered and indexed, one is not") {
    const Sizes sizes({6, 6});
    ExportOptions options;
    options.max_shard_size = 10;
    const ExportPlan plan = plan_all(sizes.model, options);
    CHECK(plan.names() == std::vector<std::string>{"model-00001-of-00002.safetensors",
                                                   "model-00002-of-00002.safetensors", "model.safetensors.index.json"});
    CHECK(plan.index == R"({
  "metadata": {
    "total_size": 12
  },
  "weight_map": {
    "a": "model-00001-of-00002.safetensors",
    "b": "model-00002-of-00002.safetensors"
  }
}
)");
    options.max_shard_size = 12;
    CHECK(plan_all(sizes.model, options).names() == std::vector<std::string>{"model.safetensors"});
    options.format = export_format("pytorch");
    CHECK(plan_all(sizes.model, options).names() == std::vector<std::string>{"pytorch_model.bin"});
    options.max_shard_size = 6;
    CHECK(plan_all(sizes.model, options).names() == std::vector<std::string>{"pytorch_model-00001-of-00002.bin",
                                                                             "pytorch_model-00002-of-00002.bin",
                                                                             "pytorch_model.bin.index.json"});
    options.max_shard_size.reset();
    CHECK_FALSE(plan_all(sizes.model, options).is_folder());
}

TEST_CASE("a shard's size is that of the converted elements, and so is the total") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors",
               safetensors_file({{"a", "BF16", {4}, "12345678"}, {"b", "U8", {8}, "12345678"}}));
    const Model model = load(folder / "m.safetensors");
    ExportOptions options;
    options.max_shard_size = 16;
    options.floats = Dtype::F32;
    const ExportPlan plan = plan_all(model, options);
    CHECK(plan.nbytes == 24);
    CHECK(plan.files.size() == 2);
    CHECK(nlohmann::json::parse(plan.index)["metadata"]["total_size"] == 24);
}

TEST_CASE("metadata are added to the source's, or replace them where they stand") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"a", "U8", {1}, "1"}}, R"({"one":"1","two":"2"})"));
    const Model model = load(folder / "m.safetensors");
    ExportOptions options;
    options.metadata = {{"three", "3"}, {"one", "first"}};
    CHECK(plan_all(model, options).metadata == TextMetadata{{"one", "first"}, {"two", "2"}, {"three", "3"}});
    options.format = export_format("npz");
    CHECK(plan_all(model, options).metadata.empty());
}
