#include "core/views/views.hpp"
#include "core/views/listings.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/views/npy.hpp"
#include "tests/support/contents.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

using Json = nlohmann::json;

namespace {

/// What NumPy is told of each type: by npy_view() and by f32_view().
struct ArrayTypes {
    std::string dtype, npy, f32;
    bool is_packed = false;  // several elements in a byte
    bool is_widened = false;
};

const std::vector<ArrayTypes> array_types{
    {"BOOL", "|b1", "|b1"},
    {"F4", "|u1", "<f4", true, true},
    {"F6_E2M3", "|u1", "<f4", true, true},
    {"F6_E3M2", "|u1", "<f4", true, true},
    {"U8", "|u1", "|u1"},
    {"I8", "|i1", "|i1"},
    {"F8_E5M2", "|u1", "<f4", false, true},
    {"F8_E4M3", "|u1", "<f4", false, true},
    {"F8_E8M0", "|u1", "<f4", false, true},
    {"F8_E4M3FNUZ", "|u1", "<f4", false, true},
    {"F8_E5M2FNUZ", "|u1", "<f4", false, true},
    {"I16", "<i2", "<i2"},
    {"U16", "<u2", "<u2"},
    {"F16", "<f2", "<f4", false, true},
    {"BF16", "<u2", "<f4", false, true},
    {"I32", "<i4", "<i4"},
    {"U32", "<u4", "<u4"},
    {"F32", "<f4", "<f4"},
    {"C64", "<c8", "<c8"},
    {"F64", "<f8", "<f8"},
    {"I64", "<i8", "<i8"},
    {"U64", "<u8", "<u8"},
};

}  // namespace

TEST_CASE("a tensor's raw view is its slice of the shard") {
    const TemporaryFolder folder;
    const std::string bytes = sample_bytes(600, 3);
    write_file(
        folder / "m.safetensors",
        safetensors_file({{"before", "U8", {5}, "01234"}, {"t", "F16", {300}, bytes}, {"none", "F32", {0}, ""}}));
    const Model model = load(folder / "m.safetensors");
    const Content content = raw_view(*find_tensor(model, "t"));
    CHECK(content.size() == 600);
    std::vector<Content::Piece> pieces;
    content.gather(0, 600, model.shards(), pieces);
    REQUIRE(pieces.size() == 1);
    CHECK(std::string(reinterpret_cast<const char*>(pieces[0].data), pieces[0].nbytes) == bytes);
    CHECK(raw_view(*find_tensor(model, "none")).size() == 0);
}

TEST_CASE("tensors.json tells of every tensor, depth first through the tree, one on a line") {
    const TemporaryFolder folder;
    const std::string first = safetensors_file({{"b.10", "F32", {2, 1}, "01234567"}, {"b.2", "BF16", {}, "xy"}});
    write_file(folder / "1.safetensors", first);
    write_file(folder / "2.safetensors", safetensors_file({{"a", "U8", {0}, ""}, {"\"\n\u00e9.w", "I8", {3}, "abc"}}));
    const Model model = load(folder.path().string());
    const Tree tree(model, "./");
    const std::string text = tensors_json(model, tree);
    const Json all = Json::parse(text);
    REQUIRE(all.size() == 4);
    CHECK(std::count(text.begin(), text.end(), '\n') == 6);

    const std::uint64_t begin = first.size() - 10;
    CHECK(all[0] == Json{{"name", "\"\n\u00e9.w"},
                         {"path", "\"%0A\u00e9/w"},
                         {"dtype", "I8"},
                         {"shape", {3}},
                         {"shard", folder / "2.safetensors"},
                         {"offset", std::filesystem::file_size(folder / "2.safetensors") - 3},
                         {"nbytes", 3}});
    CHECK(all[1].at("name") == "a");
    CHECK(all[1].at("shape") == Json::array({0}));
    CHECK(all[1].at("nbytes") == 0);
    CHECK(all[2] == Json{{"name", "b.2"},
                         {"path", "b/2"},
                         {"dtype", "BF16"},
                         {"shape", Json::array()},
                         {"shard", folder / "1.safetensors"},
                         {"offset", begin + 8},
                         {"nbytes", 2}});
    CHECK(all[3].at("name") == "b.10");
    CHECK(all[3].at("shape") == Json::array({2, 1}));
    CHECK(all[3].at("offset") == begin);
}

TEST_CASE("tensors.json of a model without tensors is an empty array") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file("{}", ""));
    const Model model = load(folder / "m.safetensors");
    CHECK(Json::parse(tensors_json(model, Tree(model, "./"))) == Json::array());
}

TEST_CASE("metadata.json tells each shard's metadata by the shard's name") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors",
               safetensors_file(std::vector<Sample>{}, R"({"format":"pt","x\"\u0000":"\u001b\n"})"));
    write_file(folder / "2.safetensors", safetensors_file(std::vector<Sample>{}, R"({"format":"np"})"));
    write_file(folder / "3.safetensors", safetensors_file("{}", ""));
    const Json all = Json::parse(metadata_json(load(folder.path().string())));
    CHECK(all == Json{{"1.safetensors", {{"format", "pt"}, {std::string("x\"\0", 3), "\x1B\n"}}},
                      {"2.safetensors", {{"format", "np"}}},
                      {"3.safetensors", Json::object()}});
}

TEST_CASE("problems.json tells what was left out, and of which tensor where it is about one") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors", safetensors_file({{"a", "U8", {1}, "x"}}));
    write_file(folder / "2.safetensors", "short");
    write_file(folder / "i.json",
               index_file({{"a", "1.safetensors"}, {"b\n", "1.safetensors"}, {"c", "2.safetensors"}}));
    const Model model = Model::load(find_source(folder / "i.json"), OnProblem::leave_out);
    const Json all = Json::parse(problems_json(model));
    REQUIRE(all.size() == 2);
    CHECK(all[0].at("kind") == "HeaderTooSmall");
    CHECK(all[0].at("path") == folder / "2.safetensors");
    CHECK_FALSE(all[0].contains("tensor"));
    CHECK_FALSE(all[0].at("text").get<std::string>().empty());
    CHECK(all[1].at("kind") == "MissingTensor");
    CHECK(all[1].at("tensor") == "b\n");
    CHECK(Json::parse(problems_json(load(folder / "1.safetensors"))) == Json::array());
}

TEST_CASE("a file name that is not UTF-8 leaves the JSON valid") {
    const TemporaryFolder folder;
    write_file(folder / "\xFF.safetensors", safetensors_file({{"a", "U8", {1}, "x"}}, R"({"k":"v"})"));
    const Model model = load(folder.path().string());
    CHECK(Json::parse(metadata_json(model)).at("\uFFFD.safetensors").at("k") == "v");
    CHECK(Json::parse(tensors_json(model, Tree(model, "./")))[0].at("shard") == folder / "\uFFFD.safetensors");
}

TEST_CASE("a shape is written as in Python, without spaces") {
    const std::vector<std::uint64_t> dims{2, 0, 18446744073709551615U};
    CHECK(to_string(Shape(dims)) == "[2,0,18446744073709551615]");
    CHECK(to_string(Shape(dims).first(1)) == "[2]");
    CHECK(to_string(Shape()) == "[]");
}

TEST_CASE("a text as a JSON string says the same again when it is parsed") {
    for (const std::string& text : {std::string(), std::string("a\"b\\c/d"), std::string("\0\x01\n\t\x1F\x7F", 6),
                                    std::string("\u00e9\u20AC\U0001F917"), std::string("\u2028\u202E")}) {
        CHECK(Json::parse(json_string(text)) == text);
    }
    CHECK(Json::parse(json_string("a\xFFz")) == "a\uFFFDz");
}

TEST_CASE("a tensor's line leaves out the path where there is none") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"a", "U8", {1}, "x"}}));
    const Model model = load(folder / "m.safetensors");
    CHECK_FALSE(Json::parse(tensor_json(model, model.tensors()[0], "")).contains("path"));
    CHECK(Json::parse(tensor_json(model, model.tensors()[0], "x/a")).at("path") == "x/a");
}

namespace {

/// Of elements that share bytes, so many to a group: the bytes of a row are the last dimension where a row is whole
/// groups; where it is not, all bytes are one.
std::vector<std::uint64_t> packed_shape(std::uint64_t group, std::vector<std::uint64_t> dims, std::uint64_t nbytes) {
    if (dims.empty() || dims.back() % group != 0) return {nbytes};
    dims.back() = dims.back() / group * (group == 2 ? 1 : 3);
    return dims;
}

}  // namespace

TEST_CASE("as an array, a tensor of each type is a header and its bytes, or float32s where that is asked for") {
    using Dims = std::vector<std::uint64_t>;
    REQUIRE(array_types.size() == plain_dtype_count);
    for (const Dims& dims : {Dims{}, Dims{8}, Dims{2, 3, 4}, Dims{0}, Dims{3, 0, 5}, Dims{4, 1}, Dims{40, 100}}) {
        const TemporaryFolder folder;
        std::vector<Sample> samples;
        for (const ArrayTypes& row : array_types) {
            if (row.is_packed && dims.empty()) continue;  // half a byte is no tensor
            std::uint64_t elements = 1;
            for (const std::uint64_t dim : dims) elements *= dim;
            const std::uint64_t nbytes = nbytes_of(parse_dtype(row.dtype).value(), elements).value();
            samples.push_back({row.dtype, row.dtype, dims, sample_bytes(nbytes, samples.size())});
        }
        write_file(folder / "m.safetensors", safetensors_file(samples));
        const Model model = load(folder / "m.safetensors");
        for (const ArrayTypes& row : array_types) {
            if (row.is_packed && dims.empty()) continue;
            INFO(row.dtype << ' ' << to_string(Shape(dims)));
            const Tensor& tensor = *find_tensor(model, row.dtype);
            const std::string bytes = bytes_of(raw_view(tensor), model.shards());
            const Dims packed = packed_shape(row.dtype == "F4" ? 2 : 4, dims, bytes.size());

            const Content npy = npy_view(tensor);
            CHECK(bytes_of(npy, model.shards()) == npy_header(row.npy, row.is_packed ? packed : dims) + bytes);
            CHECK(npy_view_size(tensor) == npy.size());

            const Content f32 = f32_view(tensor);
            const std::string values = row.is_widened ? widened_bytes(tensor.dtype(), bytes) : bytes;
            CHECK(bytes_of(f32, model.shards()) == npy_header(row.f32, dims) + values);
            CHECK(f32_view_size(tensor) == f32.size());
        }
    }
}

TEST_CASE("the data of an array of a page or more begins at a multiple of 4096, and of a smaller one at one of 64") {
    const TemporaryFolder folder;
    const std::vector<std::uint64_t> many(3000, 1);
    const std::string page(4096, 'x');
    write_file(folder / "m.safetensors", safetensors_file({{"small", "BF16", {1}, "\x80\x3F"},
                                                           {"many", "F32", many, "1234"},
                                                           {"page", "BF16", {32, 64}, page},
                                                           {"below", "BF16", {2047}, page.substr(2)},
                                                           {"half", "BF16", {1024}, page.substr(2048)}}));
    const Model model = load(folder / "m.safetensors");
    const auto npy_header_of = [&](const char* name) {
        const Tensor& tensor = *find_tensor(model, name);
        return npy_view(tensor).size() - tensor.nbytes();
    };
    const auto f32_header_of = [&](const char* name) {
        const Tensor& tensor = *find_tensor(model, name);
        return f32_view(tensor).size() - 4 * tensor.elements();
    };
    CHECK(npy_header_of("small") == 128);
    CHECK(f32_header_of("small") == 128);
    CHECK(npy_header_of("many") % 64 == 0);
    CHECK(npy_header_of("page") == 4096);
    CHECK(f32_header_of("page") == 4096);
    CHECK(npy_header_of("below") == 128);
    CHECK(npy_header_of("half") == 128);
    CHECK(f32_header_of("half") == 4096);
}

TEST_CASE("a text of very many control characters is JSON in a moment") {
    const std::string text(2'000'000, '\x7F');
    const std::string json = json_string(text);
    CHECK(json.size() == 2 + 6 * text.size());
    CHECK(json.substr(0, 13) == "\"\\u007f\\u007f");
    CHECK(json.substr(json.size() - 7) == "\\u007f\"");
    CHECK(json_string("a\x7F"
                      "b\x7F") == "\"a\\u007fb\\u007f\"");
}
