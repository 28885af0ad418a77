#include "core/model/tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "tests/core/model/trees.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

using Paths = std::map<std::string, std::string>;

/// The names in a folder, in its order, each followed by a space.
std::string listing(const Tree& tree, Tree::Position folder) {
    std::string text;
    const Tree::Folder& all = tree.folder(folder);
    for (std::uint32_t i = 0; i < all.count; ++i) text += std::string(tree.name(all.first + i)) + ' ';
    return text;
}

/// All 2^bits names that are the same path if both `.` and `/` separate.
std::vector<std::string> names_that_meet(unsigned bits) {
    std::vector<std::string> names;
    for (unsigned mask = 0; mask < 1U << bits; ++mask) {
        std::string name = "a";
        for (unsigned bit = 0; bit < bits; ++bit) name += (mask >> bit & 1) != 0 ? "/a" : ".a";
        names.push_back(name);
    }
    return names;
}

}  // namespace

TEST_CASE("a path is the name with its dots written as slashes") {
    CHECK(paths_of({"model.layers.0.weight", "a/b.c", "lone"}) ==
          Paths{{"model.layers.0.weight", "model/layers/0/weight"}, {"a/b.c", "a/b/c"}, {"lone", "lone"}});
    CHECK(paths_of({"a..b", ".a", "b.", "...c", ""}) ==
          Paths{{"a..b", "a./b"}, {".a", ".a"}, {"b.", "b."}, {"...c", "%2E%2E/c"}, {"", "%"}});
    CHECK(paths_of({".", ".."}) == Paths{{".", "%2E"}, {"..", "%2E%2E"}});
}

TEST_CASE("where a name is another's beginning the shorter stays a file, the longer keeps its separator") {
    CHECK(paths_of({"a.weight", "a.weight.absmax", "a.weight.quant/state", "a.weights.x"}) ==
          Paths{{"a.weight", "a/weight"},
                {"a.weight.absmax", "a/weight.absmax"},
                {"a.weight.quant/state", "a/weight.quant/state"},
                {"a.weights.x", "a/weights/x"}});
    CHECK(paths_of({"a", "a.b", "a.b.c", "a.b.c.d", "a.x.y"}) ==
          Paths{{"a", "a"}, {"a.b", "a.b"}, {"a.b.c", "a.b.c"}, {"a.b.c.d", "a.b.c.d"}, {"a.x.y", "a.x/y"}});
    CHECK(paths_of({"a", "a/b"}) == Paths{{"a", "a"}, {"a/b", "a%2Fb"}});
}

TEST_CASE("no name leaves the mount or hides what is in it") {
    CHECK(paths_of({"../../etc/passwd", "/etc/passwd", "a/../b", ".tensorfs/x", "b.tensorfs", "c/.tensorfs/y"}) ==
          Paths{{"../../etc/passwd", "..%2F../etc/passwd"},
                {"/etc/passwd", "%2Fetc/passwd"},
                {"a/../b", "a%2F../b"},
                {".tensorfs/x", "%2Etensorfs/x"},
                {"b.tensorfs", "b/tensorfs"},
                {"c/.tensorfs/y", "c%2F/tensorfs/y"}});
    CHECK(paths_of({".tensorfs", "a/.tensorfs"}, "/") ==
          Paths{{".tensorfs", "%2Etensorfs"}, {"a/.tensorfs", "a/.tensorfs"}});
    CHECK(paths_of({"../x", "./y", "a/../b"}, "/") ==
          Paths{{"../x", "%2E%2E/x"}, {"./y", "%2E/y"}, {"a/../b", "a/%2E%2E/b"}});
}

TEST_CASE("names that meet on one path are told apart, in byte order of the names") {
    CHECK(paths_of({"a/b", "a.b"}) == Paths{{"a.b", "a/b"}, {"a/b", "a/b~2"}});
    CHECK(
        paths_of({"a.b.c", "a.b/c", "a/b.c", "a/b/c", "a.b.d"}) ==
        Paths{
            {"a.b.c", "a/b/c"}, {"a.b.d", "a/b/d"}, {"a.b/c", "a/b/c~2"}, {"a/b.c", "a/b/c~3"}, {"a/b/c", "a/b/c~4"}});
    // A name that looks like one that was told apart keeps its path if it comes first.
    CHECK(paths_of({"a.b", "a/b", "a.b~2"}) == Paths{{"a.b", "a/b"}, {"a.b~2", "a/b~2"}, {"a/b", "a/b~3"}});
}

TEST_CASE("a folder and a file that meet are told apart, folders that meet are one") {
    CHECK(paths_of({"a.b.c", "a/b"}) == Paths{{"a.b.c", "a/b/c"}, {"a/b", "a/b~2"}});
    CHECK(paths_of({"a.b", "a/b.c", "a/b.d"}) == Paths{{"a.b", "a/b"}, {"a/b.c", "a/b~2/c"}, {"a/b.d", "a/b~2/d"}});
    CHECK(paths_of({"a.b", "a.b~2.x", "a/b.c"}) == Paths{{"a.b", "a/b"}, {"a.b~2.x", "a/b~2/x"}, {"a/b.c", "a/b~2/c"}});
}

TEST_CASE("folders that meet are one, also where another file was told apart between them") {
    CHECK(paths_of({"x.a.b", "x.a/b.c", "x/a.b", "x/a/b.d"}) ==
          Paths{{"x.a.b", "x/a/b"}, {"x.a/b.c", "x/a/b~2/c"}, {"x/a.b", "x/a/b~3"}, {"x/a/b.d", "x/a/b~2/d"}});
}

TEST_CASE("with other separators the tree is another, and with none it is flat") {
    CHECK(paths_of({"a.b/c", "d_e"}, "/") == Paths{{"a.b/c", "a.b/c"}, {"d_e", "d_e"}});
    CHECK(paths_of({"a.b/c", "d_e"}, "_") == Paths{{"a.b/c", "a.b%2Fc"}, {"d_e", "d/e"}});
    CHECK(paths_of({"a.b", "a/b", "a", ".tensorfs"}, "") ==
          Paths{{"a.b", "a.b"}, {"a/b", "a%2Fb"}, {"a", "a"}, {".tensorfs", "%2Etensorfs"}});
}

TEST_CASE("folders list in natural order, and nodes of one depth stand together") {
    const Forest forest({"m.layers.10.w", "m.layers.2.w", "m.layers.1.b", "m.layers.1.a", "b", "z.x"});
    const Tree& tree = forest.tree();
    CHECK(listing(tree, Tree::root) == "b m z ");
    const auto m = tree.child(Tree::root, "m");
    REQUIRE(m.has_value());
    const auto layers = tree.child(*m, "layers");
    REQUIRE(layers.has_value());
    CHECK(listing(tree, *layers) == "1 2 10 ");
    std::string paths;
    for (Tree::Position node = 0; node < tree.size(); ++node) paths += tree.path(node) + ' ';
    CHECK(
        paths ==
        " b m z m/layers z/x m/layers/1 m/layers/2 m/layers/10 m/layers/1/a m/layers/1/b m/layers/2/w m/layers/10/w ");
    CHECK(tree.parent(Tree::root) == Tree::root);
    CHECK(tree.parent(*layers) == *m);
}

TEST_CASE("a child is found by its exact name only") {
    const Forest forest({"a.07", "a.7", "a.b"});
    const Tree& tree = forest.tree();
    const Tree::Position a = tree.child(Tree::root, "a").value();
    CHECK(tree.name(tree.child(a, "7").value()) == "7");
    CHECK(tree.name(tree.child(a, "07").value()) == "07");
    for (const char* name : {"", "007", "8", "A", "b ", "0", ".", "..", "~"})
        CHECK_FALSE(tree.child(a, name).has_value());
    CHECK_FALSE(tree.child(Tree::root, "a.7").has_value());
}

TEST_CASE("a folder sums what is below it") {
    const TemporaryFolder folder;
    const auto write = [&](const std::string& name, const std::vector<Sample>& samples, time_t modified) {
        write_file(folder / name, safetensors_file(samples));
        const timespec times[2] = {{modified, 0}, {modified, 0}};
        REQUIRE(::utimensat(AT_FDCWD, (folder / name).c_str(), times, 0) == 0);
    };
    write("1.safetensors", {{"m.a.w", "F32", {2, 3}, std::string(24, 'x')}, {"n.e", "U8", {0}, ""}}, 3000);
    write("2.safetensors", {{"m.b", "F4", {8}, "1234"}, {"m.a.v", "BOOL", {}, "x"}}, 5000);
    write("3.safetensors", {{"m.c.d", "C64", {1}, "12345678"}}, 4000);
    const Model model = load(folder.path().string());
    const Tree tree(model, "./");
    const auto sums = [&](std::initializer_list<const char*> path) {
        Tree::Position node = Tree::root;
        for (const char* name : path) node = tree.child(node, name).value();
        const Tree::Folder& f = tree.folder(node);
        return std::vector<std::uint64_t>{f.count, f.folders, f.tensors, f.parameters, f.nbytes, f.newest};
    };
    CHECK(sums({}) == std::vector<std::uint64_t>{2, 2, 5, 16, 37, 1});
    CHECK(sums({"m"}) == std::vector<std::uint64_t>{3, 2, 4, 16, 37, 1});
    CHECK(sums({"m", "a"}) == std::vector<std::uint64_t>{2, 0, 2, 7, 25, 1});
    CHECK(sums({"m", "c"}) == std::vector<std::uint64_t>{1, 0, 1, 1, 8, 2});
    CHECK(sums({"n"}) == std::vector<std::uint64_t>{1, 0, 1, 0, 0, 0});
}

TEST_CASE("a model without tensors is an empty root") {
    const Forest forest({});
    CHECK(forest.tree().size() == 1);
    CHECK(forest.tree().folder(Tree::root).count == 0);
    CHECK(forest.tree().path(Tree::root).empty());
    CHECK_FALSE(forest.tree().child(Tree::root, "a").has_value());
}

TEST_CASE("folders nest 128 deep at most, and the rest of the name is one segment") {
    std::string name = "x";
    for (int i = 0; i < 200; ++i) name += ".x";
    const std::string path = paths_of({name}).at(name);
    CHECK(std::count(path.begin(), path.end(), '/') == 128);
    CHECK(path.substr(path.rfind('/') + 1) == name.substr(256));
}

TEST_CASE("sixty thousand names on one path are told apart, and fast", "[thorough]") {
    const std::vector<std::string> names = names_that_meet(16);
    const Forest forest(names);
    const auto start = std::chrono::steady_clock::now();
    const Tree tree(forest.model(), "./");
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    CHECK(taken.count() < 10);  // it takes a tenth of a second; were it quadratic, minutes
    CHECK(tree.size() == 1 + 16 + names.size());
    std::string path = "a";
    for (int i = 0; i < 16; ++i) path += "/a";
    const Paths paths = forest.paths();
    CHECK(paths.at(names.front()) == path);
    CHECK(paths.at(names.back()) == path + "~65536");
}
