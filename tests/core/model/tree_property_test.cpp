#include <algorithm>
#include <random>
#include <set>

#include "core/base/escape.hpp"
#include "core/base/natural_order.hpp"
#include "tests/core/model/trees.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// Trees of names made at random, against the rules of names.hpp and tree.hpp written down a second
// time, as plainly as can be. Segments of more than 255 bytes are left to other tests.

namespace {

/// Single letters between separators, so that many names meet.
std::string random_meeting_name(std::mt19937& random) {
    std::string name(1, "ab"[random() % 2]);
    for (std::size_t left = 1 + random() % 4; left > 0; --left) name += {"./"[random() % 2], "ab"[random() % 2]};
    return name;
}

/// A name of pieces that are likely to meet and to need escapes.
std::string random_name(std::mt19937& random) {
    static const std::vector<std::string> pieces{"a",   "a",         "b",      ".",  ".",  "/",
                                                 "/",   "..",        "~2",     "~3", "%",  "%2F",
                                                 "\n",  ".tensorfs", "\u00e9", "7",  "10", std::string(1, '\0'),
                                                 "\x7F"};
    std::string name;
    for (std::size_t left = random() % 7; left > 0; --left) name += pieces[random() % pieces.size()];
    return name;
}

std::vector<std::string> random_names(std::uint32_t seed, std::size_t count, bool meeting = false) {
    std::mt19937 random(seed);
    std::set<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.insert(meeting ? random_meeting_name(random) : random_name(random));
    std::vector<std::string> list(names.begin(), names.end());
    std::shuffle(list.begin(), list.end(), random);
    return list;
}

std::string escaped(const std::string& segment, bool first) {
    if (segment.empty()) return "%";
    if (segment == ".") return "%2E";
    if (segment == "..") return "%2E%2E";
    if (first && segment == ".tensorfs") return "%2Etensorfs";
    static const char* const digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : segment) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7F || c == '%' || c == '/') {
            out += {'%', digits[byte / 16], digits[byte % 16]};
        } else {
            out += c;
        }
    }
    return out;
}

/// The five rules, a name at a time.
std::map<std::string, std::string> expected_paths(const std::vector<std::string>& names,
                                                  const std::string& separators) {
    const std::set<std::string> sorted(names.begin(), names.end());
    std::map<std::string, bool> taken;  // path to whether it is a folder
    std::map<std::string, std::string> paths;
    const auto is_separator = [&](char c) { return separators.find(c) != std::string::npos; };
    const auto settle = [&](const std::string& folder, const std::string& segment, bool is_folder) {
        const std::string base = (folder.empty() ? "" : folder + '/') + escaped(segment, folder.empty());
        for (int suffix = 1;; ++suffix) {
            const std::string path = suffix == 1 ? base : base + '~' + std::to_string(suffix);
            const auto [at, is_new] = taken.emplace(path, is_folder);
            if (is_new || (is_folder && at->second)) return path;
        }
    };
    for (const std::string& name : sorted) {
        std::string folder;
        std::string segment;
        for (std::size_t i = 0; i < name.size(); ++i) {
            const bool cut = is_separator(name[i]) && i > 0 && i + 1 < name.size() && !is_separator(name[i + 1]) &&
                             !sorted.contains(name.substr(0, i));
            if (cut) {
                folder = settle(folder, segment, true);
                segment.clear();
            } else {
                segment += name[i];
            }
        }
        paths[name] = settle(folder, segment, false);
    }
    return paths;
}

/// What must hold of any tree, checked node by node.
void check_shape(const Tree& tree, std::size_t tensors) {
    std::set<std::string> paths;
    std::vector<std::uint32_t> tensors_below(tree.size());
    std::size_t files = 0;
    for (Tree::Position node = 1; node < tree.size(); ++node) {
        const std::string_view name = tree.name(node);
        REQUIRE(!name.empty());
        REQUIRE(name.size() <= 255);
        REQUIRE(name != ".");
        REQUIRE(name != "..");
        REQUIRE_FALSE((tree.parent(node) == Tree::root && name == ".tensorfs"));
        for (const char c : name) REQUIRE((static_cast<unsigned char>(c) >= 0x20 && c != '/' && c != 0x7F));
        for (std::string_view rest = name; !rest.empty(); rest.remove_prefix(utf8_length(rest))) {
            REQUIRE(utf8_length(rest) > 0);
        }
        REQUIRE(tree.parent(node) < node);
        REQUIRE(tree.is_folder(tree.parent(node)));
        REQUIRE(tree.child(tree.parent(node), name) == node);
        REQUIRE(paths.insert(tree.path(node)).second);
        if (!tree.is_folder(node)) ++files;
    }
    REQUIRE(files == tensors);
    for (Tree::Position node = tree.size(); node-- > 0;) {
        if (!tree.is_folder(node)) {
            ++tensors_below[tree.parent(node)];
            continue;
        }
        const Tree::Folder& folder = tree.folder(node);
        REQUIRE(folder.tensors == tensors_below[node]);
        if (node != Tree::root) {
            REQUIRE(folder.count > 0);
            tensors_below[tree.parent(node)] += tensors_below[node];
        }
        for (std::uint32_t i = 0; i < folder.count; ++i) {
            REQUIRE(tree.parent(folder.first + i) == node);
            if (i > 0) REQUIRE(natural_less(tree.name(folder.first + i - 1), tree.name(folder.first + i)));
        }
    }
}

}  // namespace

TEST_CASE("trees of random names are what the rules say, and every path is legal and unique", "[thorough]") {
    const std::vector<std::string> separators{"./", "./", ".", "/", "", "./a", "~."};
    for (std::uint32_t seed = 0; seed < 400; ++seed) {
        const std::string& set = separators[seed % separators.size()];
        const std::vector<std::string> names = random_names(seed, seed % 20 == 0 ? 2000 : 60);
        INFO("seed " << seed << ", separators " << set);
        const Forest forest(names, set);
        check_shape(forest.tree(), names.size());
        const auto paths = forest.paths();
        for (const auto& [name, path] : expected_paths(names, set)) {
            INFO(printable(name));
            REQUIRE(paths.at(name) == path);
        }
    }
}

TEST_CASE("trees of random names that mostly meet are what the rules say") {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        const std::vector<std::string> names = random_names(seed, 10U << seed % 6, true);
        INFO("seed " << seed);
        const Forest forest(names);
        check_shape(forest.tree(), names.size());
        const auto paths = forest.paths();
        for (const auto& [name, path] : expected_paths(names, "./")) {
            INFO(name);
            REQUIRE(paths.at(name) == path);
        }
    }
}

TEST_CASE("trees of long random names have legal and unique paths", "[thorough]") {
    for (std::uint32_t seed = 0; seed < 30; ++seed) {
        std::mt19937 random(seed);
        std::set<std::string> names;
        for (int i = 0; i < 200; ++i) {
            std::string name;
            while (name.size() < 600 && random() % 12 != 0) {
                const std::string piece = random_name(random);
                for (std::size_t times = random() % 90; times > 0; --times) name += piece;
            }
            names.insert(name);
        }
        INFO("seed " << seed);
        check_shape(Forest({names.begin(), names.end()}, seed % 2 == 0 ? "./" : "").tree(), names.size());
    }
}

TEST_CASE("positions follow from the names alone, not from where the tensors lie") {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        std::vector<std::string> names = random_names(seed, 300);
        const Forest first(names);
        std::reverse(names.begin(), names.end());
        const Forest second(names);
        REQUIRE(first.tree().size() == second.tree().size());
        for (Tree::Position node = 0; node < first.tree().size(); ++node) {
            REQUIRE(first.tree().path(node) == second.tree().path(node));
        }
    }
}
