#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/views/listings.hpp"
#include "core/views/views.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// An index and shards that disagree: refused with everything that is wrong, unless a part is enough.

namespace {

std::string shard_of(const std::vector<std::string>& tensors) {
    std::vector<Sample> samples;
    for (const std::string& name : tensors) samples.push_back({name, "U8", {4}, "wxyz"});
    return safetensors_file(samples);
}

/// What git has where git-lfs has not downloaded a file.
const std::string pointer =
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 1234567890\n";

/// A folder with an index of one tensor a shard: "t0" in "0.safetensors", and so on.
class Damaged {
public:
    explicit Damaged(std::size_t shards) {
        std::vector<std::pair<std::string, std::string>> map;
        for (std::size_t i = 0; i < shards; ++i) {
            const std::string number = std::to_string(i);
            map.emplace_back('t' + number, number + ".safetensors");
            write_file(folder_ / (number + ".safetensors"), shard_of({'t' + number}));
        }
        write_file(index(), index_file(map));
    }
    void write(const std::string& name, const std::string& bytes) const { write_file(folder_ / name, bytes); }
    void remove(const std::string& name) const { std::filesystem::remove(folder_ / name); }
    void write_map(const std::vector<std::pair<std::string, std::string>>& map) const {
        write_file(index(), index_file(map));
    }

    [[nodiscard]] std::string index() const { return folder_ / "model.safetensors.index.json"; }
    [[nodiscard]] std::string operator/(std::string_view name) const { return folder_ / name; }
    [[nodiscard]] std::vector<Problem> refusal(OnProblem on_problem = OnProblem::refuse) const {
        return problems_of([&] { Model::load(find_source(folder_.path().string()), on_problem); });
    }
    [[nodiscard]] Model part() const { return Model::load(find_source(folder_.path().string()), OnProblem::leave_out); }

private:
    TemporaryFolder folder_;
};

std::set<std::string> names_of(const Model& model) {
    std::set<std::string> names;
    for (const Tensor& tensor : model.tensors()) names.emplace(tensor.name());
    return names;
}

}  // namespace

TEST_CASE("one shard that is not whole refuses the model, and of a part leaves out only itself") {
    const std::string whole = shard_of({"t1"});
    const std::vector<std::pair<std::string, std::string>> damages{
        {"HeaderTooSmall ", ""},                                             // not begun
        {"HeaderTooSmall ", whole.substr(0, 7)},                             // cut in the length
        {"InvalidHeaderLength ", whole.substr(0, 8)},                        // cut before the header
        {"InvalidHeaderLength ", whole.substr(0, 20)},                       // cut in the header
        {"MetadataIncompleteBuffer ", whole.substr(0, whole.size() - 4)},    // cut before the data
        {"MetadataIncompleteBuffer ", whole.substr(0, whole.size() - 1)},    // cut in the data
        {"InvalidHeaderDeserialization ", std::string(whole.size(), '\0')},  // room was made, no more
        {"HeaderTooLarge ", pointer},
    };
    for (const auto& [kind, bytes] : damages) {
        INFO(kind << bytes.size() << " bytes");
        const Damaged damaged(3);
        damaged.write("1.safetensors", bytes);
        const auto problems = damaged.refusal();
        REQUIRE(kinds(problems) == kind);
        CHECK(problems[0].path == damaged / "1.safetensors");
        CHECK_FALSE(problems[0].text.empty());
        const Model model = damaged.part();
        CHECK(names_of(model) == std::set<std::string>{"t0", "t2"});
        CHECK(model.problems().size() == 1);
        CHECK(model.shards().size() == 2);
    }
}

TEST_CASE("bytes behind the data refuse the model, and of a part lose nothing") {
    const Damaged damaged(3);
    damaged.write("1.safetensors", shard_of({"t1"}) + '\0');
    const auto problems = damaged.refusal();
    REQUIRE(kinds(problems) == "MetadataIncompleteBuffer ");
    CHECK(problems[0].path == damaged / "1.safetensors");
    CHECK_FALSE(problems[0].text.empty());
    const Model model = damaged.part();
    CHECK(names_of(model) == std::set<std::string>{"t0", "t1", "t2"});
    CHECK(kinds(model.problems()) == "MetadataIncompleteBuffer ");
    CHECK(model.shards().size() == 3);
}

TEST_CASE("of a shard that was cut short, the tensors before the cut are a part") {
    const Damaged damaged(1);
    const std::string whole = shard_of({"a", "b", "c"});
    damaged.write_map({{"a", "0.safetensors"}, {"b", "0.safetensors"}, {"c", "0.safetensors"}});
    for (const std::size_t missing : {1U, 4U, 5U}) {
        INFO(missing);
        damaged.write("0.safetensors", whole.substr(0, whole.size() - missing));
        CHECK(kinds(damaged.refusal()) == "MetadataIncompleteBuffer ");
        const Model model = damaged.part();
        CHECK(names_of(model) == (missing > 4 ? std::set<std::string>{"a"} : std::set<std::string>{"a", "b"}));
        CHECK(kinds(model.problems()) == "MetadataIncompleteBuffer ");
    }
}

TEST_CASE("of a part, a tensor that is bad by itself loses only itself, and is not missed by the index") {
    const std::string good = R"(,"good":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})";
    const std::vector<std::pair<std::string, std::string>> damages{
        {"InvalidHeaderDeserialization ", R"({"bad":{"dtype":"F7","shape":[4],"data_offsets":[0,4]})"},
        {"InvalidHeaderDeserialization ", R"({"bad":{"data_offsets":[0,4],"shape":[4],"dtype":{"Q4_0":null}})"},
        {"InvalidHeaderDeserialization ", R"({"bad":["F7",[4],[0,4]])"},
        {"TensorInvalidInfo ", R"({"bad":{"dtype":"U8","shape":[5],"data_offsets":[0,4]})"},
        {"MisalignedSlice ", R"({"bad":{"dtype":"F4","shape":[7],"data_offsets":[0,4]})"},
        {"ValidationOverflow ", R"({"bad":{"dtype":"U8","shape":[9223372036854775808,2],"data_offsets":[0,4]})"},
        {"ValidationOverflow ", R"({"bad":{"dtype":"F64","shape":[9223372036854775807],"data_offsets":[0,4]})"},
    };
    for (const auto& [kind, bad] : damages) {
        INFO(bad);
        const Damaged damaged(2);
        damaged.write("1.safetensors", safetensors_file(bad + good, "baddgood"));
        damaged.write_map({{"t0", "0.safetensors"}, {"bad", "1.safetensors"}, {"good", "1.safetensors"}});
        CHECK(kinds(damaged.refusal()) == kind);
        const Model model = damaged.part();
        CHECK(names_of(model) == std::set<std::string>{"good", "t0"});
        REQUIRE(kinds(model.problems()) == kind);
        CHECK(model.problems()[0].tensor == "bad");
        CHECK(model.problems()[0].path == damaged / "1.safetensors");
        const Tensor& tensor = *find_tensor(model, "good");
        std::string bytes(4, '\0');
        model.shards()[tensor.shard()].read(tensor.offset(), bytes);
        CHECK(bytes == "good");
    }
}

TEST_CASE("of a part, a shard that loses a tensor still misses those that it never had") {
    const Damaged damaged(1);
    damaged.write("0.safetensors", safetensors_file(R"({"bad":{"dtype":"F7","shape":[4],"data_offsets":[0,4]},)"
                                                    R"("good":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
                                                    "baddgood"));
    damaged.write_map({{"bad", "0.safetensors"}, {"good", "0.safetensors"}, {"never", "0.safetensors"}});
    const Model model = damaged.part();
    REQUIRE(kinds(model.problems()) == "InvalidHeaderDeserialization MissingTensor ");
    CHECK(model.problems()[1].tensor == "never");
}

TEST_CASE("where tensors overlap or leave gaps, nobody knows which is wrong, and no part is shown") {
    const Damaged damaged(2);
    damaged.write("1.safetensors", safetensors_file(R"({"a":{"dtype":"F7","shape":[4],"data_offsets":[0,4]},)"
                                                    R"("b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})",
                                                    "abcdefg"));
    const Model model = damaged.part();
    CHECK(names_of(model) == std::set<std::string>{"t0"});
    CHECK(kinds(model.problems()) == "InvalidOffset ");
}

TEST_CASE("a whole model beside an index whose shards are gone is told of, once and with the command") {
    const Damaged damaged(2);
    damaged.remove("0.safetensors");
    damaged.remove("1.safetensors");
    CHECK_FALSE(contains(damaged.refusal().at(0).text, "whole model"));
    damaged.write("model.safetensors", shard_of({"t0", "t1"}));
    const auto problems = damaged.refusal();
    REQUIRE(kinds(problems) == "MissingShard MissingShard ");
    CHECK(contains(problems[0].text, "`tensorfs " + (damaged / "model.safetensors") + " MOUNTPOINT`"));
    CHECK_FALSE(contains(problems[1].text, "model.safetensors"));
    damaged.write("0.safetensors", "");
    damaged.write("1.safetensors", shard_of({"t1"}));
    CHECK_FALSE(contains(damaged.refusal().at(0).text, "whole model"));
}

TEST_CASE("a shard that is missing is told once, however many tensors it was to hold") {
    const Damaged damaged(2);
    damaged.write_map({{"a", "gone.safetensors"}, {"b", "gone.safetensors"}, {"t0", "0.safetensors"}});
    const auto problems = damaged.refusal();
    REQUIRE(kinds(problems) == "MissingShard ");
    CHECK(problems[0].path == damaged / "gone.safetensors");
    CHECK(names_of(damaged.part()) == std::set<std::string>{"t0"});
}

TEST_CASE("all that is wrong is told at once: files, tensors and rules") {
    const Damaged damaged(6);
    damaged.write("0.safetensors", "");
    damaged.write("1.safetensors", pointer);
    damaged.remove("2.safetensors");
    damaged.write("3.safetensors", shard_of({"other"}));
    damaged.write("4.safetensors",
                  safetensors_file(R"({"t4":{"dtype":"U8","shape":[3],"data_offsets":[0,4]}})", "wxyz"));
    const auto problems = damaged.refusal();
    REQUIRE(kinds(problems) == "HeaderTooSmall HeaderTooLarge MissingShard TensorInvalidInfo MissingTensor ");
    CHECK(problems[3].path == damaged / "4.safetensors");
    CHECK(problems[3].tensor == "t4");
    CHECK(problems[4].path == damaged.index());
    CHECK(problems[4].tensor == "t3");
    const Model model = damaged.part();
    CHECK(names_of(model) == std::set<std::string>{"t5"});
    CHECK(kinds(model.problems()) == kinds(problems));
}

TEST_CASE("a tensor that is listed and not there is missing, and the rest of its shard is not") {
    const Damaged damaged(1);
    damaged.write("0.safetensors", shard_of({"here"}));
    damaged.write_map({{"here", "0.safetensors"}, {"not here", "0.safetensors"}});
    const auto problems = damaged.refusal();
    REQUIRE(kinds(problems) == "MissingTensor ");
    CHECK(problems[0].tensor == "not here");
    CHECK(contains(problems[0].text, "0.safetensors"));
    CHECK(names_of(damaged.part()) == std::set<std::string>{"here"});
}

TEST_CASE("a tensor that the index does not list is no fault: it is left out, with a note") {
    const Damaged damaged(2);
    damaged.write("1.safetensors", shard_of({"t1", "unlisted", "t0"}));
    CHECK(damaged.refusal().empty());
    const Model model = damaged.part();
    CHECK(names_of(model) == std::set<std::string>{"t0", "t1"});
    CHECK(model.shard_name(find_tensor(model, "t0")->shard()) == "0.safetensors");
    CHECK(model.problems().empty());
    REQUIRE(model.notes().size() == 1);
    CHECK(contains(model.notes()[0], "2 of the shards' 4 tensors"));
}

TEST_CASE("a tensor whose shard is missing is not taken from another that has the name") {
    const Damaged damaged(2);
    damaged.write("1.safetensors", shard_of({"t1", "t0"}));
    damaged.remove("0.safetensors");
    CHECK(kinds(damaged.refusal()) == "MissingShard ");
    CHECK(names_of(damaged.part()) == std::set<std::string>{"t1"});
}

TEST_CASE("a name in two loose shards is refused, and of a part the first counts") {
    const TemporaryFolder folder;
    write_file(folder / "a.safetensors", shard_of({"same", "x"}));
    write_file(folder / "b.safetensors", shard_of({"same", "y"}));
    const Source source = find_source(folder.path().string());
    const auto problems = problems_of([&] { Model::load(source); });
    REQUIRE(kinds(problems) == "DuplicateName ");
    CHECK(problems[0].tensor == "same");
    const Model model = Model::load(source, OnProblem::leave_out);
    CHECK(names_of(model) == std::set<std::string>{"same", "x", "y"});
    CHECK(model.shard_name(find_tensor(model, "same")->shard()) == "a.safetensors");
}

TEST_CASE("where no shard is good there is no part to load") {
    const Damaged damaged(3);
    damaged.write("0.safetensors", "");
    damaged.write("1.safetensors", pointer);
    damaged.remove("2.safetensors");
    CHECK(kinds(damaged.refusal(OnProblem::leave_out)) == "HeaderTooSmall HeaderTooLarge MissingShard ");
}

TEST_CASE("what was left out is listed as JSON, a problem an object") {
    const Damaged damaged(2);
    damaged.write("0.safetensors", shard_of({"x"}));
    damaged.remove("1.safetensors");
    damaged.write_map({{"t\x1B[31m", "0.safetensors"}, {"x", "0.safetensors"}, {"y", "1.safetensors"}});
    const auto list = nlohmann::json::parse(problems_json(damaged.part()));
    REQUIRE(list.size() == 2);
    CHECK(list[0]["kind"] == "MissingShard");
    CHECK(list[0]["path"] == damaged / "1.safetensors");
    CHECK_FALSE(list[0].contains("tensor"));
    CHECK_FALSE(list[0]["text"].get<std::string>().empty());
    CHECK(list[1]["kind"] == "MissingTensor");
    CHECK(list[1]["path"] == damaged.index());
    CHECK(list[1]["tensor"] == "t\x1B[31m");
    CHECK_FALSE(contains(problems_json(damaged.part()), "\x1B"));
    CHECK(nlohmann::json::parse(problems_json(load(damaged / "0.safetensors"))).empty());
}

TEST_CASE("metadata and total_size may be absent, or anything") {
    const Damaged damaged(1);
    for (const char* metadata :
         {"", R"("metadata":{},)", R"("metadata":null,)", R"("metadata":"none",)", R"("metadata":{"total_size":4.0},)",
          R"("metadata":{"total_size":"4"},)", R"("metadata":{"total_size":-1},)", R"("metadata":{"total_size":null},)",
          R"("metadata":{"total_size":1e300},)", R"("metadata":{"total_size":4},)"}) {
        INFO(metadata);
        damaged.write("model.safetensors.index.json",
                      '{' + std::string(metadata) + R"("weight_map":{"t0":"0.safetensors"}})");
        CHECK(damaged.part().tensors().size() == 1);
        CHECK(damaged.part().notes().empty());
    }
    damaged.write("model.safetensors.index.json",
                  R"({"metadata":{"total_size":18446744073709551615},"weight_map":{"t0":"0.safetensors"}})");
    CHECK(damaged.refusal().empty());
    REQUIRE(damaged.part().notes().size() == 1);
    CHECK(contains(damaged.part().notes()[0], "18446744073709551615"));
}
