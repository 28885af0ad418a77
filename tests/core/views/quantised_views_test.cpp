#include <nlohmann/json.hpp>

#include "core/model/model.hpp"
#include "core/model/tree.hpp"
#include "core/tensors/dequantise.hpp"
#include "core/views/listings.hpp"
#include "core/views/merged.hpp"
#include "core/views/npy.hpp"
#include "core/views/pytorch.hpp"
#include "core/views/views.hpp"
#include "tests/core/formats/gguf/gguf_file.hpp"
#include "tests/core/views/zip_reader.hpp"
#include "tests/support/contents.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;
using Dims = std::vector<std::uint64_t>;
using Json = nlohmann::json;

namespace {

/// Three rows of 64 elements in Q8_0, and two float32s.
struct Quantised {
    TemporaryFolder folder;
    std::string blocks = sample_bytes(6 * 34, 3);
    Model model = load();

    [[nodiscard]] const Tensor& tensor(std::string_view name) const { return *model.find(name); }
    [[nodiscard]] std::string bytes(const Content& content) const { return bytes_of(content, model.shards()); }
    [[nodiscard]] std::string values() const { return widened_bytes(Dtype::Q8_0, blocks); }

private:
    Model load() const {
        GgufFile file;
        file.key("general.architecture", gguf_str, gguf_string("test"));
        file.key("test.count", gguf_u32, little_endian(7, 4));
        file.key("tokens", gguf_arr, gguf_array(gguf_str, 2, gguf_string("a") + gguf_string("\xFF")));
        file.tensor("q", {64, 3}, gguf_tensor_q8_0, 0);
        file.tensor("f", {2}, gguf_tensor_f32, 224);
        std::string data = blocks;
        data.resize(224);
        write_file(folder / "m.gguf", file.bytes(data + "12345678"));
        Model loaded = Model::load(find_source(folder / "m.gguf"));
        loaded.map();
        return loaded;
    }
};

}  // namespace

TEST_CASE("a quantised tensor's file is its blocks, and its array the bytes of its rows") {
    const Quantised q;
    CHECK(std::ranges::equal(q.tensor("q").shape(), Dims{3, 64}));
    CHECK(q.tensor("q").elements() == 192);
    CHECK(q.bytes(raw_view(q.tensor("q"))) == q.blocks);
    CHECK(q.bytes(npy_view(q.tensor("q"))) == npy_header("|u1", Dims{3, 68}) + q.blocks);
    CHECK(npy_view_size(q.tensor("q")) == npy_view(q.tensor("q")).size());
}

TEST_CASE("below f32 a quantised tensor is its numbers, in any range") {
    const Quantised q;
    const std::string whole = npy_header("<f4", Dims{3, 64}) + q.values();
    const Content content = f32_view(q.tensor("q"));
    CHECK(q.bytes(content) == whole);
    CHECK(f32_view_size(q.tensor("q")) == whole.size());
    for (std::uint64_t begin = 120; begin < whole.size(); begin += 13) {
        for (const std::uint64_t nbytes : {1U, 3U, 4U, 127U, 128U, 129U, 500U}) {
            const std::string expected = whole.substr(begin, nbytes);
            CHECK(bytes_of(content, q.model.shards(), begin, nbytes) == expected);
        }
    }
}

TEST_CASE("in a merged file quantised tensors are bytes of their rows, and the metadata say what they were") {
    const Quantised q;
    write_file(q.folder / "merged.safetensors", q.bytes(merged_view(q.model).value()));
    Model merged = Model::load(find_source(q.folder / "merged.safetensors"));
    merged.map();
    const Tensor& tensor = *merged.find("q");
    CHECK(tensor.dtype() == Dtype::U8);
    CHECK(std::ranges::equal(tensor.shape(), Dims{3, 68}));
    CHECK(bytes_of(raw_view(tensor), merged.shards()) == q.blocks);
    CHECK(merged.find("f")->offset() % 4 == 0);
    CHECK(bytes_of(raw_view(*merged.find("f")), merged.shards()) == "12345678");

    const Json all = Json::parse(metadata_json(merged)).at("merged.safetensors");
    CHECK(all.at("general.architecture") == "test");
    CHECK(all.at("test.count") == "7");
    CHECK_FALSE(all.contains("tokens"));
    CHECK(Json::parse(all.at("tensorfs.quantised").get<std::string>()) ==
          Json{{"q", {{"dtype", "Q8_0"}, {"shape", {3, 64}}}}});
}

TEST_CASE("model-f32.safetensors has the numbers of all floats as F32") {
    const Quantised q;
    write_file(q.folder / "wide.safetensors", q.bytes(merged_view(q.model, Floats::widened).value()));
    Model wide = Model::load(find_source(q.folder / "wide.safetensors"));
    wide.map();
    const Tensor& tensor = *wide.find("q");
    CHECK(tensor.dtype() == Dtype::F32);
    CHECK(std::ranges::equal(tensor.shape(), Dims{3, 64}));
    CHECK(bytes_of(raw_view(tensor), wide.shards()) == q.values());
    CHECK_FALSE(Json::parse(metadata_json(wide)).at("wide.safetensors").contains("tensorfs.quantised"));
}

TEST_CASE("model-f32.safetensors widens what is narrow and leaves the rest as it is") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"bf", "BF16", {2}, "abcd"},
                                                           {"f8", "F8_E4M3", {3}, "\x38\x39\x3A"},
                                                           {"f64", "F64", {1}, "12345678"},
                                                           {"i", "I32", {1}, "1234"},
                                                           {"f4", "F4", {2, 2}, "\x21\x43"}}));
    Model model = Model::load(find_source(folder / "m.safetensors"));
    model.map();
    write_file(folder / "wide.safetensors", bytes_of(merged_view(model, Floats::widened).value(), model.shards()));
    Model wide = Model::load(find_source(folder / "wide.safetensors"));
    wide.map();
    for (const Tensor& tensor : model.tensors()) {
        INFO(tensor.name());
        const Tensor& other = *wide.find(tensor.full_name());
        const bool is_wide = tensor.dtype() == Dtype::F64 || tensor.dtype() == Dtype::I32;
        CHECK(other.dtype() == (is_wide ? tensor.dtype() : Dtype::F32));
        CHECK(std::ranges::equal(other.shape(), tensor.shape()));
        const std::string bytes = bytes_of(raw_view(tensor), model.shards());
        CHECK(bytes_of(raw_view(other), wide.shards()) == (is_wide ? bytes : widened_bytes(tensor.dtype(), bytes)));
    }
}

TEST_CASE("each tensor of a merged file begins at a multiple of its element's size") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors", safetensors_file({{"a", "U8", {3}, "abc"}}));
    write_file(folder / "2.safetensors", safetensors_file({{"b", "F32", {1}, "1234"}, {"c", "BF16", {1}, "xy"}}));
    write_file(folder / "3.safetensors", safetensors_file({{"d", "F64", {1}, "12345678"}, {"e", "U8", {1}, "z"}}));
    const Model model = Model::load(find_source(folder.path().string()));
    const TemporaryFolder other;
    Model mapped = Model::load(find_source(folder.path().string()));
    mapped.map();
    write_file(other / "m.safetensors", bytes_of(merged_view(mapped).value(), mapped.shards()));
    const Model merged = Model::load(find_source(other / "m.safetensors"));
    REQUIRE(merged.tensors().size() == 5);
    for (const Tensor& tensor : merged.tensors()) {
        INFO(tensor.name());
        CHECK(tensor.offset() % block_of(tensor.dtype()).nbytes == 0);
    }
    CHECK(merged.tensors().front().name() == "d");  // the widest first
}

TEST_CASE("a checkpoint's small tensors have their checksums, and what was quantised is told") {
    const Quantised q;
    const Content content = pytorch_view(q.model);
    const ZipReader reader(content, q.model.shards());
    for (const ZipReader::File& file : reader.files()) {
        INFO(file.name);
        CHECK(file.checksum == ZipReader::crc(reader.bytes(file)));
    }
    const Json types = Json::parse(reader.bytes(reader.file("pytorch_model/.tensorfs/quantised.json")));
    CHECK(types == Json{{"q", {{"dtype", "Q8_0"}, {"shape", {3, 64}}}}});
}

TEST_CASE("all metadata stand in metadata.json with their types, and arrays are not kept in memory") {
    const Quantised q;
    CHECK(std::holds_alternative<NotKept>(q.model.metadata()[0][2].second));
    const Json all = Json::parse(metadata_json(q.model)).at("m.gguf");
    CHECK(all.at("test.count") == 7);
    CHECK(all.at("tokens") == Json{"a", "\uFFFD"});
    write_file(q.folder / "m.gguf", "GGUF");
    CHECK(merged_view(q.model).has_value());  // arrays are no part of it, so nothing is read again
    CHECK_FALSE(problems_of([&] { metadata_json(q.model); }).empty());
}
