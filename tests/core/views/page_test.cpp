#include "core/views/page/page.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/views/view_table.hpp"
#include "tests/support/contents.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

using Json = nlohmann::json;

namespace {

std::string page_of(const Model& model, PagePlace place = PagePlace::mount) {
    return page(model, Tree(model, "."), place);
}

/// The text of a <script> of the page, as a browser cuts it out.
std::string script(const std::string& page, const std::string& id) {
    const std::string begin = "id=\"" + id + "\">";
    const std::size_t at = page.find(begin);
    REQUIRE(at != std::string::npos);
    return page.substr(at + begin.size(), page.find("</script>", at) - at - begin.size());
}

Json tensors_of(const std::string& page) { return Json::parse(script(page, "tensors-data")); }

/// The tensors' paths, as the page's script puts them together.
std::vector<std::string> paths_of(const Json& tensors) {
    std::vector<std::string> paths;
    std::string last;
    for (std::size_t i = 0; i < tensors.at("rests").size(); ++i) {
        std::size_t end = 0;
        for (auto folders = tensors.at("folders")[i].get<std::size_t>(); folders > 0; --folders)
            end = last.find('/', end) + 1;
        last = last.substr(0, end) + tensors.at("rests")[i].get<std::string>();
        paths.push_back(last);
    }
    return paths;
}

}  // namespace

TEST_CASE("a page has every tensor, in columns and in the order of the tree") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"b.y", "F16", {2, 3}, std::string(12, '1')},
                                                           {"b.x", "U8", {}, "2"},
                                                           {"a", "I64", {0, 7}, ""},
                                                           {"b.z.w", "U8", {2}, "34"}}));
    const Model model = load(folder / "m.safetensors");
    const Json tensors = tensors_of(page_of(model));
    CHECK(paths_of(tensors) == std::vector<std::string>{"a", "b/x", "b/y", "b/z/w"});
    CHECK(tensors.at("names") == Json{0, 0, 0, 0});
    CHECK(tensors.at("nbytes") == Json{0, 1, 12, 2});
    CHECK(tensors.at("dtypes") == Json{"I64", "U8", "F16"});
    CHECK(tensors.at("dtype") == Json{0, 1, 2, 1});
    CHECK(tensors.at("shapes") == Json::parse("[[0,7],[],[2,3],[2]]"));
    CHECK(tensors.at("shards") == Json{"m.safetensors"});
    for (std::size_t i = 0; i < 4; ++i) {
        std::string name = paths_of(tensors)[i];
        std::replace(name.begin(), name.end(), '/', '.');
        CHECK(tensors.at("offset")[i] == find_tensor(model, name)->offset());
    }
    CHECK(tensors.at("links").empty());
    CHECK(tensors.at("parameters") == model.parameters());
    CHECK(tensors.at("is_mount") == true);
    CHECK(tensors_of(page_of(model, PagePlace::anywhere)).at("is_mount") == false);
}

TEST_CASE("no text of a model is markup in its page") {
    const TemporaryFolder folder;
    const std::string hostile = "</script><!--<img src=x onerror=alert(1)>&amp;\u2028\u2029\u202E\"'";
    write_file(folder / "m.safetensors",
               safetensors_file({{hostile, "U8", {1}, "1"}}, Json{{hostile, hostile}}.dump()));
    const std::string text = page_of(load(folder / "m.safetensors"));
    for (const char* const id : {"tensors-data", "metadata-data"}) {
        const std::string data = script(text, id);
        CHECK(data.find_first_of("<>&") == std::string::npos);
        CHECK(std::ranges::all_of(data, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
    }
    CHECK(tensors_of(text).at("names")[0] == hostile);
    CHECK(Json::parse(script(text, "metadata-data")).at("m.safetensors").at(hostile) == hostile);
}

TEST_CASE("a page names the files that do not follow from a tensor's path") {
    const TemporaryFolder folder;
    write_file(folder / "model_index.json", "{}");
    const std::string longest(255, 'x');
    write_file(folder / "\xFF %/model.safetensors", safetensors_file({{"w#?", "U8", {1}, "1"}}));
    write_file(folder / "unet/model.safetensors",
               safetensors_file({{longest, "U8", {1}, "2"}, {"w#?", "U8", {1}, "3"}}));
    const Json tensors = tensors_of(page_of(load(folder.path().string())));
    const std::vector<std::string> paths = paths_of(tensors);
    const auto place = [&](const std::string& path) {
        return static_cast<std::size_t>(std::ranges::find(paths, path) - paths.begin());
    };
    Json links = Json::object();
    for (const Json& link : tensors.at("links")) links[paths.at(link[0])] = {link[1], link[2]};
    REQUIRE(place("%FF %25/w#?") < paths.size());
    CHECK(links.at("%FF %25/w#?") == Json{"%FF%20%2525/w%23%3F", "%FF%20%2525/w%23%3F.npy"});
    REQUIRE(links.contains("unet/" + longest));
    const std::string array = links.at("unet/" + longest)[1];
    CHECK(array.starts_with("unet/xxx"));
    CHECK(array.ends_with(".npy"));
    CHECK(array.find("%25~") != std::string::npos);
    CHECK(links.size() == 2);
}

TEST_CASE("a page's policy allows no script but its own") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"a", "U8", {1}, "1"}}));
    const std::string text = page_of(load(folder / "m.safetensors"));
    CHECK(contains(text, "default-src 'none'; style-src 'sha256-"));
    CHECK(contains(text, "script-src 'sha256-"));
    CHECK_FALSE(contains(text, "unsafe-"));
    CHECK_FALSE(contains(text, "innerHTML"));
    CHECK_FALSE(contains(text, "http:"));
    CHECK_FALSE(contains(text, "https:"));
}

TEST_CASE("a page says what was left out, and why") {
    const TemporaryFolder folder;
    write_file(folder / "a.safetensors", safetensors_file({{"a", "U8", {1}, "1"}}));
    write_file(folder / "b.safetensors", "no header");
    const Model model = Model::load(find_source(folder.path().string()), OnProblem::leave_out);
    REQUIRE(model.problems().size() == 1);
    const Json problems = tensors_of(page_of(model)).at("problems");
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].at("text") == model.problems()[0].text);
    CHECK(problems[0].at("path") == model.problems()[0].path);
}

TEST_CASE("the page is a view of the model") {
    const ModelView* const view = model_view(10);
    REQUIRE(view != nullptr);
    CHECK(view->name == "index.html");
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"a", "U8", {1}, "1"}}));
    const Model model = load(folder / "m.safetensors");
    const std::optional<Content> content = view->content(model, Tree(model, "."));
    REQUIRE(content);
    CHECK(bytes_of(*content, model.shards()) == page_of(model));
}
