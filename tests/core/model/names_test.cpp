#include "core/model/names.hpp"

#include "tests/support/catch.hpp"

using namespace tensorfs;

namespace {

/// A name's segments by rule 1 alone, with `|` between them.
std::string cut(std::string_view name, std::string_view separators = "./") {
    const Separators set(separators);
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (set.cut(name, i)) {
            out += '|';
        } else {
            out += name[i];
        }
    }
    return out;
}

std::string in_folder(std::string_view segment) {
    std::string storage;
    return std::string(file_name(segment, false, storage));
}

std::string in_root(std::string_view segment) {
    std::string storage;
    return std::string(file_name(segment, true, storage));
}

std::string repeated(std::string_view text, int times) {
    std::string all;
    while (times-- > 0) all += text;
    return all;
}

}  // namespace

TEST_CASE("rule 1: names are cut at separators") {
    CHECK(cut("a") == "a");
    CHECK(cut("model.layers.0.weight") == "model|layers|0|weight");
    CHECK(cut("down_blocks.0/attn") == "down_blocks|0|attn");
    CHECK(cut("") == "");
}

TEST_CASE("rule 1: a separator stays where cutting would leave an empty segment") {
    CHECK(cut(".") == ".");
    CHECK(cut("..") == "..");
    CHECK(cut("...") == "...");
    CHECK(cut(".a") == ".a");
    CHECK(cut("a.") == "a.");
    CHECK(cut("a..b") == "a.|b");
    CHECK(cut("a../b") == "a..|b");
    CHECK(cut("a./.b.") == "a./|b.");
    CHECK(cut("..a") == ".|a");
    CHECK(cut("/a") == "/a");
    CHECK(cut("/..") == "/..");
}

TEST_CASE("rule 1: the separators can be others, or none") {
    CHECK(cut("a.b/c_d", "_") == "a.b/c|d");
    CHECK(cut("a.b/c_d", "") == "a.b/c_d");
    CHECK(cut("a\xC3\xA9.b", ".") == "a\xC3\xA9|b");
    CHECK(cut("a::b", ":") == "a:|b");
}

TEST_CASE("rule 3: most segments are their own file name, and nothing is made for them") {
    const std::string_view segment = "weight ~1\xC3\xA9";
    std::string storage;
    CHECK(file_name(segment, false, storage).data() == segment.data());
    CHECK(file_name(segment, true, storage) == segment);
    CHECK(storage.empty());
}

TEST_CASE("rule 3: what a file name may not hold, or would garble a listing, is escaped") {
    CHECK(in_folder("a/b") == "a%2Fb");
    CHECK(in_folder("100%") == "100%25");
    CHECK(in_folder("%2F") == "%252F");
    CHECK(in_folder(std::string_view("a\0b", 3)) == "a%00b");
    CHECK(in_folder("\x01\n\x1F \x7F") == "%01%0A%1F %7F");
    CHECK(in_folder("\\\"'*?:|<>") == "\\\"'*?:|<>");
}

TEST_CASE("rule 3: no file is called dot, dot-dot or nothing") {
    CHECK(in_folder(".") == "%2E");
    CHECK(in_folder("..") == "%2E%2E");
    CHECK(in_folder("...") == "...");
    CHECK(in_folder(".a") == ".a");
    CHECK(in_folder("") == "%");
}

TEST_CASE("rule 3: the hidden folder's name is taken in the root only") {
    CHECK(in_root(".tensorfs") == "%2Etensorfs");
    CHECK(in_folder(".tensorfs") == ".tensorfs");
    CHECK(in_root(".tensorfs2") == ".tensorfs2");
    CHECK(in_root(".") == "%2E");
}

TEST_CASE("rule 4: a segment of 255 bytes stays, a longer one is cut and marked with its hash") {
    CHECK(in_folder(std::string(255, 'x')) == std::string(255, 'x'));
    // XXH32 with seed 0, by xxhsum.
    CHECK(in_folder(std::string(256, 'x')) == std::string(246, 'x') + "~ae1a224a");
    CHECK(in_folder(std::string(100000, 'x')) == std::string(246, 'x') + "~dc31fc23");
    CHECK(in_folder(std::string(255, 'x') + 'y') != in_folder(std::string(255, 'x') + 'z'));
}

TEST_CASE("rule 4: a cut splits no character") {
    // 246 bytes are left for the beginning: 123 characters of two bytes, 82 of three, 61 of four.
    const std::string two = in_folder(repeated("\u00e9", 200));
    CHECK(two.substr(0, two.size() - 9) == repeated("\u00e9", 123));
    const std::string three = in_folder("x" + repeated("\u20AC", 200));
    CHECK(three.substr(0, three.size() - 9) == "x" + repeated("\u20AC", 81));
    const std::string four = in_folder(repeated("\U0001F917", 200));
    CHECK(four.substr(0, four.size() - 9) == repeated("\U0001F917", 61));
}

TEST_CASE("rule 4: it is the escaped segment that must fit, and its escapes are not split") {
    CHECK(in_folder(std::string(85, '\n')) == repeated("%0A", 85));
    CHECK(in_folder(std::string(86, '\n')) == repeated("%0A", 82) + "~16b31b67");
    CHECK(in_folder("ab" + std::string(200, '\n')).substr(0, 245) == "ab" + repeated("%0A", 81));
}

TEST_CASE("a suffix always fits, whole characters before it") {
    CHECK(with_suffix("weight", "~2") == "weight~2");
    CHECK(with_suffix(std::string(255, 'x'), "~2") == std::string(253, 'x') + "~2");
    CHECK(with_suffix(repeated("\u00e9", 127), "~2") == repeated("\u00e9", 126) + "~2");
    CHECK(with_suffix(repeated("%0A", 85), "~10") == repeated("%0A", 84) + "~10");
    CHECK(with_suffix("%", "~2") == "%~2");
}

TEST_CASE("an escaped segment is one-to-one") {
    CHECK(escape_segment("a%b/c\td") == "a%25b%2Fc%09d");
    CHECK(escape_segment(".") == ".");
    CHECK(escape_segment("\xC3\xA9") == "\xC3\xA9");
}
