#include "core/views.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/expect.hpp"
#include "tests/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

using Json = nlohmann::json;

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
