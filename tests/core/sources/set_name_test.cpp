#include "core/sources/set_name.hpp"

#include "tests/core/sources/format_lists.hpp"
#include "tests/support/expect.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

std::optional<SetName> shard(std::string_view name, const FileNames& files = file_names::safetensors) {
    return parse_shard_name(name, files);
}

std::optional<SetName> index(std::string_view name, const FileNames& files = file_names::safetensors) {
    return parse_index_name(name, files);
}

}  // namespace

TEST_CASE("a shard's name has a base, a variant and a number") {
    CHECK(shard("model.safetensors") == SetName{"model", "", 0, 0});
    CHECK(shard("model.fp16.safetensors") == SetName{"model", "fp16", 0, 0});
    CHECK(shard("model-00002-of-00015.safetensors") == SetName{"model", "", 2, 15});
    CHECK(shard("model.fp16-00001-of-00002.safetensors") == SetName{"model", "fp16", 1, 2});
    CHECK(shard("my-model-7b.safetensors") == SetName{"my-model-7b", "", 0, 0});
    for (const char* name : {".safetensors", ".model.safetensors", "model.bin", "model.safetensors.index.json",
                             "model.safetensors.incomplete", "model.safetensors.lock", "safetensors", ""}) {
        INFO(name);
        CHECK_FALSE(shard(name).has_value());
    }
}

TEST_CASE("an index's name has a base and a variant, in each place where it is written") {
    CHECK(index("model.safetensors.index.json") == SetName{"model", "", 0, 0});
    CHECK(index("model.fp16.safetensors.index.json") == SetName{"model", "fp16", 0, 0});
    CHECK(index("model.safetensors.index.fp16.json") == SetName{"model", "fp16", 0, 0});
    CHECK(index("model.safetensors.fp16.index.json") == SetName{"model", "fp16", 0, 0});
    for (const char* name : {"config.json", "model.safetensors", ".model.safetensors.index.json", "index.json", "",
                             "pytorch_model.bin.index.json", "model_index.json"}) {
        INFO(name);
        CHECK_FALSE(index(name).has_value());
    }
}

TEST_CASE("the variant may stand behind the number, where any word is one") {
    CHECK(shard("model-00001-of-00002.fp16.safetensors") == SetName{"model", "fp16", 1, 2});
    CHECK(shard("model-00001-of-00002.half.safetensors") == SetName{"model", "half", 1, 2});
    CHECK(shard("model-1-of-2..safetensors") == SetName{"model-1-of-2.", "", 0, 0});
    CHECK(shard("-00001-of-00002.safetensors") == SetName{"-00001-of-00002", "", 0, 0});
    CHECK(shard("pytorch_model-00001-of-00002.fp16.bin", file_names::pytorch) ==
          SetName{"pytorch_model", "fp16", 1, 2});
    CHECK(shard("Name-00001-of-00002.Q4_K_M.gguf", file_names::gguf) == SetName{"Name", "Q4_K_M", 1, 2});
    CHECK(shard("Name-00001-of-00002-Q4_K_M.gguf", file_names::gguf) == SetName{"Name", "Q4_K_M", 1, 2});
    CHECK(with_number("model-00001-of-00012.fp16.safetensors", 12) == "model-00012-of-00012.fp16.safetensors");
    CHECK(with_number("a-of-b-1-of-2.gguf", 2) == "a-of-b-2-of-2.gguf");
}

TEST_CASE("a quantisation is a variant, behind a hyphen or a dot") {
    for (const char* word : {"Q4_K_M", "q4_0", "Q8_0", "IQ2_XXS", "iq4_nl", "F16", "bf16", "F32", "fp16", "TQ1_0",
                             "MXFP4", "MXFP4_MOE", "Q5_K_XL", "Q4_K"}) {
        INFO(word);
        CHECK(shard(std::string("Llama-3.1-8B-") + word + ".gguf", file_names::gguf) ==
              SetName{"Llama-3.1-8B", word, 0, 0});
        CHECK(shard(std::string("llama.") + word + "-00002-of-00003.gguf", file_names::gguf) ==
              SetName{"llama", word, 2, 3});
        CHECK(shard(std::string(word) + ".gguf", file_names::gguf) == SetName{"", word, 0, 0});
    }
    for (const char* name : {"Llama-3.1-8B", "qwen2.5", "Q", "Quantised", "model-v1.0", "a_Q4_0"}) {
        INFO(name);
        CHECK(shard(std::string(name) + ".gguf", file_names::gguf) == SetName{name, "", 0, 0});
    }
    CHECK(shard("Name-Q4_K_M.safetensors") == SetName{"Name-Q4_K_M", "", 0, 0});
}

TEST_CASE("a suffix that many files have counts behind a well-known base alone") {
    for (const char* name : {"pytorch_model", "diffusion_pytorch_model", "adapter_model", "pytorch_lora_weights",
                             "open_clip_pytorch_model"}) {
        INFO(name);
        CHECK(shard(std::string(name) + ".bin", file_names::pytorch) == SetName{name, "", 0, 0});
        CHECK(shard(std::string(name) + ".fp16-00001-of-00002.bin", file_names::pytorch) ==
              SetName{name, "fp16", 1, 2});
    }
    for (const char* name : {"model.bin", "training_args.bin", "optimizer.bin", "openvino_model.bin", "ggml-base.bin",
                             "pytorch_model.foo.bin", "pytorch_model.bin.index.json", "xpytorch_model.bin"}) {
        INFO(name);
        CHECK_FALSE(shard(name, file_names::pytorch).has_value());
    }
}

TEST_CASE("the state of a training is no model") {
    for (const char* name : {"optimizer.pt", "scheduler.pt", "scaler.pt", "rng_state.pth", "rng_state_0.pth",
                             "RNG_STATE_1.pth", "training_args.pt"}) {
        INFO(name);
        CHECK_FALSE(shard(name, file_names::pytorch).has_value());
    }
    for (const char* name : {"model.pt", "my_optimizer.pt", "best.ckpt", "G_2333.pth"}) {
        INFO(name);
        CHECK(shard(name, file_names::pytorch).has_value());
    }
}

TEST_CASE("an index belongs to one format, which its name tells or not") {
    const auto format_of = [](std::string_view name) {
        const Format* const format = format_of_index(name, all_formats);
        return format == nullptr ? "" : format->name;
    };
    CHECK(format_of("model.safetensors.index.json") == "safetensors");
    CHECK(format_of("pytorch_model.bin.index.json") == "pytorch");
    CHECK(format_of("pytorch_model.bin.index.fp16.json") == "pytorch");
    CHECK(format_of("any.index.json") == "");
    CHECK(format_of("model.gguf.index.json") == "");
    CHECK(index("pytorch_model.bin.index.fp16.json", file_names::pytorch) == SetName{"pytorch_model", "fp16", 0, 0});
    CHECK(index("pytorch_model.fp16.bin.index.json", file_names::pytorch) == SetName{"pytorch_model", "fp16", 0, 0});
    CHECK(index("any.index.json", file_names::pytorch) == SetName{"any", "", 0, 0});
    CHECK_FALSE(index("model.safetensors.index.json", file_names::pytorch).has_value());
    CHECK_FALSE(index("any.index.json", file_names::gguf).has_value());
}

TEST_CASE("patterns have any text and digits, in any case") {
    CHECK(fits("mmproj-F16", "mmproj*"));
    CHECK(fits("MMProj", "mmproj*"));
    CHECK(fits("name-mmproj-f16", "*-mmproj*"));
    CHECK(fits("consolidated.07", "consolidated.##"));
    CHECK(fits("aXbXc", "a*x*c"));
    CHECK(fits("", "*"));
    CHECK(fits("", ""));
    CHECK_FALSE(fits("name-mmproj", "mmproj*"));
    CHECK_FALSE(fits("consolidated.7", "consolidated.##"));
    CHECK_FALSE(fits("consolidated.007", "consolidated.##"));
    CHECK_FALSE(fits("consolidated.0x", "consolidated.##"));
    CHECK_FALSE(fits("abc", "a*b"));
    CHECK_FALSE(fits("a", ""));
    CHECK_FALSE(fits("", "a"));
    CHECK_FALSE(fits(std::string_view("a\0", 2), "a"));
}
