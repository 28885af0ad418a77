#include "fs/volume/volume.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "core/formats/safetensors/safetensors.hpp"
#include "core/views/npy.hpp"
#include "core/views/views.hpp"
#include "fs/serving/entry_param.hpp"
#include "tests/support/contents.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

/// A model of two shards, and the volume that shows it.
struct Shown {
    TemporaryFolder folder;
    std::string weight = sample_bytes(3000, 1);
    std::unique_ptr<Volume> volume;

    explicit Shown(std::string_view separators = "./") {
        write_file(folder / "1.safetensors", safetensors_file({{"m.layers.10.w", "U8", {3000}, weight},
                                                               {"m.layers.2.w", "F16", {2, 2}, "abcdefgh"},
                                                               {"m.layers.2.w.scale", "F32", {}, "1234"}}));
        write_file(folder / "2.safetensors",
                   safetensors_file({{"a/b", "I8", {0}, ""}, {"", "BOOL", {1}, "x"}}, R"({"format":"pt"})"));
        volume = std::make_unique<Volume>(load(folder.path().string()), separators);
    }

    /// The node at a path from the root.
    [[nodiscard]] std::optional<Node> at(const std::vector<std::string>& path) const {
        std::optional<Node> node = volume->node(Inode{});
        for (const std::string& name : path) {
            if (!node) break;
            node = volume->lookup(node->inode, name);
        }
        return node;
    }

    [[nodiscard]] std::string content(const std::vector<std::string>& path) const {
        const std::optional<Node> node = at(path);
        REQUIRE(node.has_value());
        return content(*node);
    }
    [[nodiscard]] std::string content(const Node& node) const {
        Content storage;
        return bytes_of(volume->content(node, storage), volume->model().shards());
    }
};

/// Visits a folder and all below it: that entries, lookups, parents and nodes tell the same.
void check_below(const Shown& shown, const Node& folder, std::set<std::uint64_t>& numbers) {
    const Volume& volume = *shown.volume;
    std::set<std::string> names;
    std::uint32_t folders = 0;
    for (std::uint32_t i = 0; i < folder.entries; ++i) {
        std::string storage;
        const Volume::Entry entry = volume.entry(folder.inode, i, storage);
        INFO(entry.name);
        CHECK(names.insert(std::string(entry.name)).second);
        CHECK(numbers.insert(NodeId{0, entry.inode}.number()).second);
        const std::optional<Node> node = volume.lookup(folder.inode, entry.name);
        REQUIRE(node.has_value());
        CHECK(node->inode == entry.inode);
        CHECK(node->is_folder == entry.is_folder);
        CHECK(volume.parent(node->inode) == folder.inode);
        const std::optional<Node> again = volume.node(NodeId::from_number(NodeId{0, entry.inode}.number()).inode);
        REQUIRE(again.has_value());
        CHECK(again->inode == entry.inode);
        CHECK(again->nbytes == node->nbytes);
        if (node->is_folder) {
            ++folders;
            check_below(shown, *node, numbers);
        } else {
            Content content;
            CHECK(volume.content(*node, content).size() == node->nbytes);
            CHECK(shown.content(*node).size() == node->nbytes);
            CHECK_FALSE(volume.lookup(node->inode, "x").has_value());
        }
    }
    CHECK(folder.folders == folders);
    CHECK_FALSE(volume.lookup(folder.inode, "no such name").has_value());
    CHECK_FALSE(volume.lookup(folder.inode, "").has_value());
}

}  // namespace

TEST_CASE("the root has FUSE's number, and is its own parent") {
    const Shown shown;
    CHECK(NodeId{}.number() == 1);
    CHECK(NodeId::from_number(1).inode == Inode{});
    CHECK(shown.volume->parent(Inode{}) == Inode{});
    CHECK(shown.volume->node(Inode{})->is_folder);
}

TEST_CASE("entries, lookups, parents and nodes tell the same, everywhere") {
    const Shown shown;
    std::set<std::uint64_t> numbers{1};
    check_below(shown, *shown.volume->node(Inode{}), numbers);
    const std::optional<Node> hidden = shown.at({".tensorfs"});
    REQUIRE(hidden.has_value());
    CHECK(numbers.insert(NodeId{0, hidden->inode}.number()).second);
    check_below(shown, *hidden, numbers);
    CHECK(shown.volume->parent(hidden->inode) == Inode{});
}

TEST_CASE("a tensor's file holds the tensor's bytes") {
    const Shown shown;
    const std::optional<Node> node = shown.at({"m", "layers", "10", "w"});
    REQUIRE(node.has_value());
    CHECK_FALSE(node->is_folder);
    CHECK(node->nbytes == 3000);
    CHECK(shown.content(*node) == shown.weight);
    REQUIRE(node->tensor != nullptr);
    CHECK(node->tensor->name() == "m.layers.10.w");
    CHECK(shown.content(shown.at({"m", "layers", "2", "w.scale"}).value()) == "1234");
    CHECK(shown.content(shown.at({"a", "b"}).value()).empty());
    CHECK(shown.content(shown.at({"%"}).value()) == "x");
}

TEST_CASE("the hidden folder is not listed, but there") {
    const Shown shown;
    const Node root = *shown.volume->node(Inode{});
    std::string storage;
    for (std::uint32_t i = 0; i < root.entries; ++i)
        CHECK(shown.volume->entry(root.inode, i, storage).name != ".tensorfs");
    const std::optional<Node> hidden = shown.at({".tensorfs"});
    REQUIRE(hidden.has_value());
    CHECK(hidden->is_folder);
    CHECK_FALSE(shown.at({"m", ".tensorfs"}).has_value());
    CHECK_FALSE(shown.at({".tensorfs", ".tensorfs"}).has_value());
}

TEST_CASE("the hidden folder's listings are JSON of the whole model") {
    const Shown shown;
    const auto json_at = [&](const std::string& name) {
        return nlohmann::json::parse(shown.content(shown.at({".tensorfs", name}).value()));
    };
    CHECK(json_at("tensors.json").size() == 5);
    CHECK(json_at("metadata.json").at("2.safetensors").at("format") == "pt");
}

TEST_CASE("the flat folder has each tensor by its full name") {
    const Shown shown;
    const std::optional<Node> flat = shown.at({".tensorfs", "flat"});
    REQUIRE(flat.has_value());
    CHECK(flat->entries == 5);
    CHECK(flat->folders == 0);
    CHECK(shown.content(shown.at({".tensorfs", "flat", "m.layers.10.w"}).value()) == shown.weight);
    CHECK(shown.at({".tensorfs", "flat", "a%2Fb"}).has_value());
    CHECK(shown.at({".tensorfs", "flat", "%"}).has_value());
}

TEST_CASE("a number that no node has is no node") {
    const Shown shown;
    const Volume& volume = *shown.volume;
    CHECK_FALSE(volume.node(NodeId::from_number(0).inode).has_value());
    CHECK_FALSE(volume.node({View::raw, volume.tree().size()}).has_value());
    CHECK_FALSE(volume.node({View::flat, 6}).has_value());
    CHECK_FALSE(volume.node({View::npy, volume.tree().size()}).has_value());
    CHECK_FALSE(volume.node({View::f32, UINT32_MAX}).has_value());
    CHECK_FALSE(volume.lookup({View::npy, 1000}, "a").has_value());
    CHECK_FALSE(volume.node({View::hidden, 1}).has_value());  // that row of .tensorfs is a folder
    CHECK_FALSE(volume.node({View::hidden, 1000}).has_value());
    CHECK_FALSE(volume.node({View::hidden, UINT32_MAX}).has_value());
    CHECK_FALSE(volume.node({static_cast<View>(200), 0}).has_value());
    CHECK_FALSE(volume.lookup({static_cast<View>(200), 0}, "a").has_value());
    CHECK_FALSE(volume.lookup({View::raw, 1000}, "a").has_value());
    CHECK_FALSE(volume.lookup({View::hidden, 1000}, "a").has_value());
}

TEST_CASE("two loads of a model number its nodes alike") {
    const Shown first;
    const Shown second;
    for (const auto& path : std::vector<std::vector<std::string>>{{"m"},
                                                                  {"m", "layers", "2", "w"},
                                                                  {"%"},
                                                                  {".tensorfs"},
                                                                  {".tensorfs", "tensors.json"},
                                                                  {".tensorfs", "model.safetensors"},
                                                                  {".tensorfs", "npy"},
                                                                  {".tensorfs", "npy", "m", "layers", "2", "w.npy"},
                                                                  {".tensorfs", "f32", "%.npy"},
                                                                  {".tensorfs", "flat", "m.layers.2.w"}}) {
        CHECK(first.at(path).value().inode == second.at(path).value().inode);
    }
}

TEST_CASE("blocks count each tensor by itself, rounded up to 512 bytes") {
    CHECK(Shown().volume->blocks() == 6 + 1 + 1 + 0 + 1);
}

TEST_CASE("a model without tensors is an empty root with its hidden folder") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file("{}", ""));
    const Volume volume(load(folder / "m.safetensors"), "./");
    CHECK(volume.node(Inode{}).value().entries == 0);
    CHECK(volume.lookup(Inode{}, ".tensorfs").has_value());
}

TEST_CASE("the hidden folder has the views, and lists them by name") {
    const Shown shown;
    const Node hidden = shown.at({".tensorfs"}).value();
    std::vector<std::string> names;
    std::string storage;
    for (std::uint32_t i = 0; i < hidden.entries; ++i) {
        names.emplace_back(shown.volume->entry(hidden.inode, i, storage).name);
    }
    CHECK(names == std::vector<std::string>{"f32", "flat", "index.html", "metadata.json", "model-f32.safetensors",
                                            "model.safetensors", "npy", "problems.json", "pytorch_model.bin",
                                            "tensors.json"});
    CHECK(hidden.folders == 3);
}

TEST_CASE("the views' folders tell the same everywhere, and no number is another node's") {
    for (const char* separators : {"./", "", "/"}) {
        const Shown shown(separators);
        std::set<std::uint64_t> numbers{1};
        check_below(shown, *shown.volume->node(Inode{}), numbers);
        for (const std::string view : {"flat", "npy", "f32"}) {
            INFO(view << ", separators " << separators);
            const Node folder = shown.at({".tensorfs", view}).value();
            CHECK(folder.is_folder);
            CHECK(shown.volume->parent(folder.inode) == shown.at({".tensorfs"}).value().inode);
            CHECK(numbers.insert(NodeId{0, folder.inode}.number()).second);
            check_below(shown, folder, numbers);
        }
        const std::size_t nodes = shown.volume->tree().size();
        CHECK(numbers.size() == 3 * nodes + 6);  // of five tensors in one folder, besides
    }
}

TEST_CASE("a view of the tree has the tree's folders, and its files with an ending") {
    const Shown shown;
    for (const std::string view : {"npy", "f32"}) {
        CHECK(shown.at({".tensorfs", view, "m", "layers", "10", "w.npy"}).has_value());
        CHECK(shown.at({".tensorfs", view, "m", "layers", "2", "w.scale.npy"}).has_value());
        CHECK(shown.at({".tensorfs", view, "a", "b.npy"}).has_value());
        CHECK(shown.at({".tensorfs", view, "%.npy"}).has_value());
        CHECK_FALSE(shown.at({".tensorfs", view, "m", "layers", "10", "w"}).has_value());
        CHECK_FALSE(shown.at({".tensorfs", view, "m.npy"}).has_value());
        CHECK_FALSE(shown.at({".tensorfs", view, ".tensorfs"}).has_value());
        const Node folder = shown.at({".tensorfs", view, "m"}).value();
        REQUIRE(folder.sums != nullptr);
        CHECK(folder.sums == shown.at({"m"}).value().sums);
    }
}

TEST_CASE("below npy a tensor is an array of its elements, and below f32 of float32s") {
    const Shown shown;
    using Dims = std::vector<std::uint64_t>;
    CHECK(shown.content({".tensorfs", "npy", "m", "layers", "10", "w.npy"}) ==
          npy_header("|u1", Dims{3000}) + shown.weight);
    CHECK(shown.content({".tensorfs", "f32", "m", "layers", "10", "w.npy"}) ==
          npy_header("|u1", Dims{3000}) + shown.weight);
    CHECK(shown.content({".tensorfs", "npy", "m", "layers", "2", "w.npy"}) ==
          npy_header("<f2", Dims{2, 2}) + "abcdefgh");
    CHECK(shown.content({".tensorfs", "f32", "m", "layers", "2", "w.npy"}) ==
          npy_header("<f4", Dims{2, 2}) + widened_bytes(Dtype::F16, "abcdefgh"));
    CHECK(shown.content({".tensorfs", "f32", "a", "b.npy"}) == npy_header("|i1", Dims{0}));
    const Node node = shown.at({".tensorfs", "f32", "m", "layers", "2", "w.npy"}).value();
    REQUIRE(node.tensor != nullptr);
    CHECK(node.tensor->name() == "m.layers.2.w");
    CHECK(node.nbytes == 128 + 16);
}

TEST_CASE("a file beside a folder that has its name with the ending is there in the views, too") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors",
               safetensors_file({{"x", "U8", {1}, "1"}, {"x.npy/y", "U8", {1}, "2"}, {"x.npy/y.npy", "U8", {1}, "3"}}));
    Shown shown("/");
    shown.volume = std::make_unique<Volume>(load(folder / "m.safetensors"), "/");
    for (const std::string view : {"npy", "f32"}) {
        std::set<std::uint64_t> numbers;
        check_below(shown, shown.at({".tensorfs", view}).value(), numbers);
        const std::string header = npy_header("|u1", std::vector<std::uint64_t>{1});
        CHECK(shown.at({".tensorfs", view, "x.npy"}).value().is_folder);
        CHECK(shown.content({".tensorfs", view, "x%~0.npy"}) == header + "1");
        CHECK(shown.content({".tensorfs", view, "x.npy", "y.npy"}) == header + "2");
        CHECK(shown.content({".tensorfs", view, "x.npy", "y.npy.npy"}) == header + "3");
    }
}

TEST_CASE("the whole model is a safetensors file and a zip archive in the hidden folder") {
    const Shown shown;
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", shown.content({".tensorfs", "model.safetensors"}));
    const Model model = load(folder / "m.safetensors");
    CHECK(model.tensors().size() == 5);
    CHECK(model.metadata()[0] == Metadata{{"format", "pt"}});
    CHECK(bytes_of(raw_view(*find_tensor(model, "m.layers.10.w")), model.shards()) == shown.weight);
    const std::string archive = shown.content({".tensorfs", "pytorch_model.bin"});
    CHECK(archive.starts_with("PK\3\4"));
    CHECK(contains(archive, shown.weight));
}

TEST_CASE("what cannot be made of a model is neither listed nor found", "[thorough]") {
    const TemporaryFolder folder;
    write_too_much_for_one_header(folder);
    const Volume volume(load(folder.path().string()), "./");
    const Node hidden = volume.lookup(Inode{}, ".tensorfs").value();
    CHECK(hidden.entries == 8);
    std::string storage;
    for (std::uint32_t i = 0; i < hidden.entries; ++i) {
        CHECK(volume.entry(hidden.inode, i, storage).name != "model.safetensors");
    }
    CHECK_FALSE(volume.lookup(hidden.inode, "model.safetensors").has_value());
}

TEST_CASE("the views of a model without tensors are empty folders, and files all the same") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file("{}", ""));
    Shown shown;
    shown.volume = std::make_unique<Volume>(load(folder / "m.safetensors"), "./");
    std::set<std::uint64_t> numbers;
    check_below(shown, shown.at({".tensorfs"}).value(), numbers);
    CHECK(numbers.size() == 10);
    CHECK(shown.at({".tensorfs", "npy"}).value().entries == 0);
    CHECK(shown.content({".tensorfs", "model.safetensors"}) == safetensors_file("{}      ", ""));
}

TEST_CASE("the kernel is told a node's generation for NFS handles, and of the root, which has none, always 0") {
    const Shown model;
    MountOptions options;
    const Generation generation(load(model.folder.path().string()), options, 5);
    const auto told = [&](Inode inode) {
        return entry_param(generation, generation.volume.node(inode).value(), options.owner);
    };
    CHECK(told(generation.volume.lookup(Inode{}, "m").value().inode).generation == 5);
    CHECK(told(Inode{}).generation == 0);  // kernels before 6.9 take another for another root, and give up this one
    CHECK(told(Inode{}).ino == 1);
}
