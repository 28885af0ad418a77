#include "core/model/model.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

std::string refusal(const std::string& path) {
    return kinds(problems_of([&] { load(path); }));
}

/// The names of the tensors, in the order of tensors(), each with its shard's name.
std::string tensors_of(const Model& model) {
    std::string text;
    for (const Tensor& tensor : model.tensors()) {
        text += std::string(tensor.name()) + '=' + model.shard_name(tensor.shard()) + ' ';
    }
    return text;
}

std::string by_name_of(const Model& model) {
    std::string text;
    for (const std::uint32_t i : model.by_name()) text += std::string(model.tensors().at(i).name()) + ' ';
    return text;
}

Sample bytes_of(const std::string& name, std::size_t size) { return {name, "U8", {size}, std::string(size, 'x')}; }

}  // namespace

TEST_CASE("a model is the tensors of all its shards, by shard and in data order") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors", safetensors_file({bytes_of("z", 3), bytes_of("c", 1)}, R"({"k":"1"})"));
    write_file(folder / "2.safetensors", safetensors_file({{"b", "F4", {4}, "xy"}, {"a", "F32", {}, "1234"}}));
    const Model model = load(folder.path().string());
    CHECK(tensors_of(model) == "z=1.safetensors c=1.safetensors b=2.safetensors a=2.safetensors ");
    CHECK(by_name_of(model) == "a b c z ");
    CHECK(model.parameters() == 3 + 1 + 4 + 1);
    CHECK(model.nbytes() == 3 + 1 + 2 + 4);
    REQUIRE(model.shards().size() == 2);
    REQUIRE(model.metadata().size() == 2);
    CHECK(model.metadata()[0] == Metadata{{"k", "1"}});
    CHECK(model.metadata()[1].empty());
    CHECK(model.shard_path(model.tensors()[3]) == folder / "2.safetensors");
    CHECK(model.notes().empty());
}

TEST_CASE("each tensor's bytes are where it says, in the mapping") {
    const TemporaryFolder folder;
    const std::string first = sample_bytes(1000, 1);
    const std::string second = sample_bytes(5000, 2);
    write_file(folder / "m.safetensors", safetensors_file({{"a", "U8", {1000}, first}, {"b", "I8", {5000}, second}}));
    const Model model = load(folder / "m.safetensors");
    const auto bytes_in = [&](std::string_view name) {
        const Tensor& tensor = *find_tensor(model, name);
        const auto bytes = model.shards()[tensor.shard()].bytes().subspan(tensor.offset(), tensor.nbytes());
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    CHECK(bytes_in("a") == first);
    CHECK(bytes_in("b") == second);
}

TEST_CASE("a model survives being moved") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({bytes_of("a.name.of.some.length.so.that.it.is.far", 2)}));
    Model first = load(folder / "m.safetensors");
    const Model second = std::move(first);
    CHECK(second.tensors().at(0).name() == "a.name.of.some.length.so.that.it.is.far");
    CHECK(second.tensors().at(0).shape()[0] == 2);
}

TEST_CASE("an index decides: what it does not list is left out, with a note") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors", safetensors_file({bytes_of("a", 1), bytes_of("stale", 2)}));
    write_file(folder / "2.safetensors", safetensors_file({bytes_of("a", 4), bytes_of("b", 8)}));
    write_file(folder / "3.safetensors", safetensors_file({bytes_of("unlisted", 1)}));
    write_file(folder / "model.safetensors.index.json", index_file({{"a", "2.safetensors"}, {"b", "2.safetensors"}}));
    CHECK(tensors_of(load(folder.path().string())) == "a=2.safetensors b=2.safetensors ");

    write_file(folder / "model.safetensors.index.json", index_file({{"a", "1.safetensors"}, {"b", "2.safetensors"}}));
    const Model model = load(folder / "model.safetensors.index.json");
    CHECK(tensors_of(model) == "a=1.safetensors b=2.safetensors ");
    CHECK(by_name_of(model) == "a b ");
    CHECK(model.nbytes() == 9);
    REQUIRE(model.notes().size() == 1);
    CHECK(contains(model.notes()[0], "2 of the shards' 4 tensors"));
}

TEST_CASE("a total_size that is not the sum is noted, and no fault") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors", safetensors_file({bytes_of("a", 3)}));
    const auto notes_for = [&](const std::string& size) {
        write_file(folder / "i.json",
                   R"({"metadata":{"total_size":)" + size + R"(},"weight_map":{"a":"1.safetensors"}})");
        return load(folder / "i.json").notes();
    };
    CHECK(notes_for("3").empty());
    REQUIRE(notes_for("4").size() == 1);
    CHECK(contains(notes_for("4")[0], "total_size"));
}

TEST_CASE("without an index a name in two shards is refused, and so is each such name") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors", safetensors_file({bytes_of("a", 1), bytes_of("b", 1), bytes_of("c", 1)}));
    write_file(folder / "2.safetensors", safetensors_file({bytes_of("c", 1), bytes_of("b", 1), bytes_of("d", 1)}));
    const auto problems = problems_of([&] { load(folder.path().string()); });
    REQUIRE(kinds(problems) == "DuplicateName DuplicateName ");
    CHECK(problems[0].tensor == "b");
    CHECK(problems[0].path == folder / "2.safetensors");
    CHECK(contains(problems[0].text, folder / "1.safetensors"));
    CHECK(problems[1].tensor == "c");
}

TEST_CASE("all shards that are missing or damaged are told at once, in order") {
    const TemporaryFolder folder;
    write_file(folder / "2.safetensors", "short");
    write_file(folder / "4.safetensors", safetensors_file({bytes_of("d", 1)}) + "x");
    REQUIRE(::mkfifo((folder / "5.safetensors").c_str(), 0600) == 0);
    std::filesystem::create_directory(folder / "6.safetensors");
    write_file(folder / "i.json", index_file({{"a", "1.safetensors"},
                                              {"b", "2.safetensors"},
                                              {"c", "3.safetensors"},
                                              {"d", "4.safetensors"},
                                              {"e", "5.safetensors"},
                                              {"f", "6.safetensors"}}));
    const auto problems = problems_of([&] { load(folder / "i.json"); });
    CHECK(kinds(problems) ==
          "MissingShard HeaderTooSmall MissingShard MetadataIncompleteBuffer NotRegularFile NotRegularFile ");
    for (std::size_t i = 0; i < problems.size(); ++i) {
        CHECK(problems[i].path == folder / (std::to_string(i + 1) + ".safetensors"));
    }
}

TEST_CASE("a tensor that its shard does not have is missing, unless the shard itself cannot be read") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors", safetensors_file({bytes_of("a", 1)}));
    write_file(folder / "2.safetensors", safetensors_file({bytes_of("b", 1)}));
    write_file(
        folder / "i.json",
        index_file(
            {{"a", "1.safetensors"}, {"b", "1.safetensors"}, {"c", "2.safetensors"}, {"d", "none.safetensors"}}));
    const auto problems = problems_of([&] { load(folder / "i.json"); });
    REQUIRE(kinds(problems) == "MissingShard MissingTensor MissingTensor ");
    CHECK(problems[1].tensor == "b");
    CHECK(problems[1].path == folder / "i.json");
    CHECK(contains(problems[1].text, "1.safetensors"));
    CHECK(problems[2].tensor == "c");
}

TEST_CASE("of a damaged model what is good can be loaded, with a list of the rest") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors", safetensors_file({bytes_of("a", 1), bytes_of("b", 1)}));
    write_file(folder / "2.safetensors", "short");
    write_file(folder / "3.safetensors", safetensors_file({bytes_of("b", 5), bytes_of("c", 1)}));
    const Model model = Model::load(find_source(folder.path().string()), OnProblem::leave_out);
    CHECK(tensors_of(model) == "a=1.safetensors b=1.safetensors c=3.safetensors ");
    CHECK(by_name_of(model) == "a b c ");
    CHECK(kinds(model.problems()) == "HeaderTooSmall DuplicateName ");
    CHECK(load(folder / "1.safetensors").problems().empty());
    const auto problems =
        problems_of([&] { Model::load(find_source(folder / "2.safetensors"), OnProblem::leave_out); });
    CHECK(kinds(problems) == "HeaderTooSmall ");
}

TEST_CASE("the tensors of a pipeline are told apart by their component") {
    const TemporaryFolder folder;
    write_file(folder / "unet/model.safetensors", safetensors_file({bytes_of("w", 1)}));
    write_file(folder / "vae/model.safetensors", safetensors_file({bytes_of("w", 2)}));
    write_file(folder / "model_index.json", "{}");
    const Model model = load(folder.path().string());
    REQUIRE(model.tensors().size() == 2);
    CHECK(model.tensors()[0].full_name() == "unet/w");
    CHECK(model.tensors()[0].name() == "w");
    CHECK(model.tensors()[1].full_name() == "vae/w");
    CHECK(model.tensors()[1].name() == "w");
    CHECK(model.shard_name(1) == "vae/model.safetensors");
    CHECK(model.shard_path(model.tensors()[1]) == folder / "vae/model.safetensors");
}

TEST_CASE("a model may be without tensors") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file("{}", ""));
    CHECK(load(folder / "m.safetensors").tensors().empty());
    CHECK(load(folder / "m.safetensors").nbytes() == 0);
}

TEST_CASE("an index without tensors is no model") {
    const TemporaryFolder folder;
    write_file(folder / "i.json", index_file({}));
    CHECK(refusal(folder / "i.json") == "NotAModel ");
}

TEST_CASE("many shards are loaded, in natural order") {
    const TemporaryFolder folder;
    for (int i = 0; i < 200; ++i) {
        write_file(folder / (std::to_string(i) + ".safetensors"),
                   safetensors_file({bytes_of("t" + std::to_string(i), 1)}));
    }
    const Model model = load(folder.path().string());
    REQUIRE(model.tensors().size() == 200);
    for (std::uint32_t i = 0; i < 200; ++i) {
        REQUIRE(model.tensors()[i].name() == "t" + std::to_string(i));
        REQUIRE(model.tensors()[i].shard() == i);
    }
}

TEST_CASE("a source that is no model is refused") {
    const TemporaryFolder folder;
    CHECK(refusal(folder / "none") == "NoSuchSource ");
    REQUIRE(::mkfifo((folder / "fifo.safetensors").c_str(), 0600) == 0);
    CHECK(refusal(folder / "fifo.safetensors") == "NotRegularFile ");
    CHECK(refusal("/dev/zero") == "NotRegularFile ");
}
