#include "core/model/suffixed.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "core/base/escape.hpp"
#include "tests/core/model/trees.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

constexpr std::string_view npy = ".npy";

std::string name_of(const Tree& tree, Tree::Position node, std::string_view ending = npy) {
    std::string storage;
    return std::string(suffixed_name(tree, node, ending, storage));
}

/// The names in a folder, with what they lead to: that they are legal, unique, and end as they should.
std::map<std::string, Tree::Position> names_in(const Tree& tree, Tree::Position folder, std::string_view ending) {
    std::map<std::string, Tree::Position> names;
    for (std::uint32_t i = 0; i < tree.folder(folder).count; ++i) {
        const Tree::Position node = tree.folder(folder).first + i;
        const std::string name = name_of(tree, node, ending);
        INFO(printable(name));
        REQUIRE(!name.empty());
        REQUIRE(name.size() <= 255);
        REQUIRE(name != ".");
        REQUIRE(name != "..");
        for (const char c : name) REQUIRE((c != '/' && static_cast<unsigned char>(c) >= 0x20));
        for (std::string_view rest = name; !rest.empty(); rest.remove_prefix(utf8_length(rest))) {
            REQUIRE(utf8_length(rest) > 0);  // no character is cut
        }
        if (tree.is_folder(node)) {
            REQUIRE(name == tree.name(node));
        } else {
            REQUIRE(name.ends_with(ending));
        }
        REQUIRE(names.emplace(name, node).second);
    }
    return names;
}

/// Checks every folder of a tree: each name is found, and no other.
void check(const Tree& tree, std::string_view ending = npy) {
    for (Tree::Position folder = 0; folder < tree.size(); ++folder) {
        if (!tree.is_folder(folder)) continue;
        const std::map<std::string, Tree::Position> names = names_in(tree, folder, ending);
        std::set<std::string> asked{"",   ".",        "..",       "%",        "%.npy",     "%~.npy",          "%~0",
                                    "~2", "%~-1.npy", "%~+0.npy", "%~ 0.npy", "%~0x0.npy", "%~4294967296.npy"};
        asked.emplace(ending);
        for (const auto& [name, node] : names) {
            const std::string bare(tree.name(node));
            for (const std::string& base : {name, bare, bare.substr(0, 200), bare.substr(0, bare.size() / 2)}) {
                for (const std::string end : {"", ".npy", ".npy.npy", ".NPY", "~2", "~2.npy", "/", "x"}) {
                    asked.insert(base + end);
                }
                for (std::uint32_t i = 0; i <= std::min(names.size(), std::size_t{5}); ++i) {
                    asked.insert(base + "%~" + std::to_string(i));
                    asked.insert(base + "%~" + std::to_string(i) + ".npy");
                    asked.insert(base + "%~0" + std::to_string(i) + ".npy");
                }
            }
        }
        for (const std::string& name : asked) {
            INFO(printable(name));
            const auto known = names.find(name);
            const std::optional<Tree::Position> expected =
                known == names.end() ? std::nullopt : std::optional(known->second);
            REQUIRE(suffixed_child(tree, folder, name, ending) == expected);
        }
        for (const auto& [name, node] : names) REQUIRE(suffixed_child(tree, folder, name, ending) == node);
    }
}

/// All files' paths, with their suffixed names in the last place.
std::set<std::string> files_of(const Tree& tree) {
    std::set<std::string> paths;
    for (Tree::Position node = 1; node < tree.size(); ++node) {
        if (tree.is_folder(node)) continue;
        const std::string folder = tree.path(tree.parent(node));
        paths.insert((folder.empty() ? "" : folder + '/') + name_of(tree, node));
    }
    return paths;
}

std::string random_name(std::mt19937& random) {
    static const std::vector<std::string> pieces{"x",  "x",        "y",          ".npy", ".",      ".",
                                                 "/",  "%",        "~",          "~2",   "%~0",    "%~1",
                                                 "%~", "\u00e9",   "\U0001F917", "\n",   ".npy.x", std::string(1, '\0'),
                                                 "10", ".tensorfs"};
    std::string name;
    for (std::size_t left = random() % 5; left > 0; --left) name += pieces[random() % pieces.size()];
    if (random() % 4 == 0) {
        const std::string& filler = pieces[random() % pieces.size()];
        const std::size_t wanted = 235 + random() % 30;
        std::string long_name;
        while (long_name.size() < wanted) long_name += filler;
        name = random() % 2 == 0 ? long_name + name : name + long_name;
    }
    return name;
}

}  // namespace

TEST_CASE("files get the ending, and folders keep their names") {
    const Forest forest({"a.b", "a.c.d", "e"});
    CHECK(files_of(forest.tree()) == std::set<std::string>{"a/b.npy", "a/c/d.npy", "e.npy"});
    check(forest.tree());
}

TEST_CASE("a file beside a folder that has its name with the ending is told apart from it") {
    const Forest forest({"x", "x.npy/y"}, "/");
    CHECK(files_of(forest.tree()) == std::set<std::string>{"x%~0.npy", "x.npy/y.npy"});
    check(forest.tree());
    // With '.' as a separator the tree itself tells these apart.
    check(Forest({"x", "x.npy.y"}).tree());
}

TEST_CASE("a file beside a file that has its name with the ending keeps its name") {
    const Forest forest({"x", "x.npy", "x.npy.npy"}, "");
    CHECK(files_of(forest.tree()) == std::set<std::string>{"x.npy", "x.npy.npy", "x.npy.npy.npy"});
    CHECK(forest.tree().name(suffixed_child(forest.tree(), Tree::root, "x.npy", npy).value()) == "x");
    check(forest.tree());
}

TEST_CASE("a name that is too long with the ending is cut, and found again") {
    for (std::size_t length = 245; length <= 260; ++length) {
        INFO(length << " bytes");
        const std::string name(length, 'n');
        const Forest forest({name, "a." + name, "a.b"});
        check(forest.tree());
        if (length <= 251) {
            CHECK(files_of(forest.tree()).count(name + ".npy") == 1);
        } else {
            CHECK(name_of(forest.tree(), forest.tree().child(Tree::root, forest.tree().name(2)).value()).size() == 255);
        }
    }
}

TEST_CASE("long names that differ only where they are cut stay apart") {
    std::vector<std::string> names;
    for (const char end : {'a', 'b', 'c', '0', '9'}) {
        for (const std::size_t length : {247U, 250U, 251U, 252U, 254U}) names.push_back(std::string(length, 'n') + end);
    }
    check(Forest(names).tree());
    check(Forest(names, "").tree());
}

TEST_CASE("a name is not cut within a character or an escape") {
    std::vector<std::string> names;
    for (const std::string character : {"\u00e9", "\u20AC", "\U0001F917", "\n", "%"}) {
        for (std::size_t shift = 0; shift < 5; ++shift) {
            std::string name(shift, 'n');
            while (name.size() * (character.size() == 1 ? 3 : 1) < 255 + shift) name += character;
            names.push_back(name);
            name.resize(name.size() - character.size());
            names.push_back(name);
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    check(Forest(names).tree());
}

TEST_CASE("names with percents and tildes, and the empty name, are told apart") {
    const Forest forest({"", "%", "%~0", "%~1", "%~1.npy", "x%~0", "x~2", "~", "%~", "a.%", "a.%~0", "a."});
    check(forest.tree());
    CHECK(files_of(forest.tree()).count("%.npy") == 1);
    CHECK(files_of(forest.tree()).count("%25~0.npy") == 1);
    check(Forest({"", "%/x", "%.npy/x", "x", "x.npy/a", "x%~0.npy/a", "x%~1.npy/a"}, "/").tree());
}

TEST_CASE("many files beside folders that have their names with the ending are found by their places") {
    std::vector<std::string> names;
    for (int i = 0; i < 300; ++i) {
        names.push_back("t" + std::to_string(i));
        names.push_back("t" + std::to_string(i) + ".npy/x");
        names.push_back(std::string(250, 'n') + std::to_string(i));
    }
    check(Forest(names, "/").tree());
}

TEST_CASE("in a pipeline the components' names are told apart from files as well") {
    const TemporaryFolder folder;
    write_file(folder / "model_index.json", "{}");
    for (const std::string component : {"unet", "x.npy", "x", "%~0.npy", "\xFF"}) {
        write_file(folder / (component + "/model.safetensors"),
                   safetensors_file({{"", "U8", {0}, ""}, {"x", "U8", {0}, ""}, {"x.npy/y", "U8", {0}, ""}}));
    }
    const Model model = load(folder.path().string());
    for (const char* separators : {"./", "/", ""}) {
        const Tree tree(model, separators);
        for (Tree::Position node = 1; node < tree.size(); ++node) {
            CHECK(suffixed_child(tree, tree.parent(node), name_of(tree, node), npy) == node);
        }
    }
}

TEST_CASE("names of random trees are legal, unique and found again, and nothing else is found", "[thorough]") {
    const std::vector<std::string> separators{"./", "/", ".", "", "~/"};
    for (std::uint32_t seed = 0; seed < 120; ++seed) {
        std::mt19937 random(seed);
        std::set<std::string> names;
        for (std::size_t left = 1U << seed % 6; left > 0; --left) names.insert(random_name(random));
        const std::string& set = separators[seed % separators.size()];
        INFO("seed " << seed << ", separators " << set);
        const Forest forest({names.begin(), names.end()}, set);
        check(forest.tree());
        if (seed % 10 == 0) check(forest.tree(), "");
    }
}
