#include "core/formats/pickle/pickle.hpp"

#include <limits>

#include "core/formats/pickle/globals.hpp"
#include "core/formats/pickle/opcode.hpp"
#include "core/formats/pickle/syntax_error.hpp"
#include "tests/core/formats/pickle/writer.hpp"
#include "tests/support/expect.hpp"

using namespace tensorfs::pickle;
using namespace tensorfs::tests;
using namespace std::string_literals;

namespace {

/// A pickle and the bytes that it is a view of.
struct Read {
    explicit Read(std::string text) : bytes(std::move(text)), pickle(read_pickle(bytes)) {}
    explicit Read(const PickleWriter& writer) : Read(writer.stop()) {}
    Read(const Read&) = delete;
    Read& operator=(const Read&) = delete;

    [[nodiscard]] Handle root() const { return pickle.root(); }
    [[nodiscard]] std::vector<Handle> items(Handle value) const { return pickle.items(value).first(SIZE_MAX); }
    [[nodiscard]] std::vector<Handle> items() const { return items(root()); }
    /// The integers in a container.
    [[nodiscard]] std::vector<std::int64_t> numbers(Handle value) const {
        std::vector<std::int64_t> found;
        for (const Handle item : pickle.items(value)) found.push_back(pickle.integer(item).value());
        return found;
    }

    std::string bytes;
    Pickle pickle;
};

std::int64_t integer(const std::string& instruction) {
    const Read read(instruction + '.');
    return read.pickle.integer(read.root()).value();
}

/// Why a pickle is refused; "" if it is not.
std::string refusal(const std::string& bytes) {
    try {
        read_pickle(bytes);
    } catch (const SyntaxError& e) {
        return e.what();
    }
    return "";
}

using Numbers = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a pickle's scalars are read as Python reads them") {
    CHECK(Read("N."s).pickle.is_none(Handle()));
    CHECK(Read("N."s).pickle.type(Read("N."s).root()) == Type::none);
    const Read yes("\x88."s), no("\x89."s), real("G\x3F\xF8\0\0\0\0\0\0."s);
    CHECK(yes.pickle.is_true(yes.root()));
    CHECK(no.pickle.type(no.root()) == Type::boolean);
    CHECK_FALSE(no.pickle.is_true(no.root()));
    CHECK_FALSE(yes.pickle.integer(yes.root()).has_value());
    CHECK(real.pickle.type(real.root()) == Type::real);
    CHECK(integer("K\xFF") == 255);
    CHECK(integer("M\xFF\xFF") == 65535);
    CHECK(integer("J\xFF\xFF\xFF\xFF") == -1);
    CHECK(integer("J\0\0\0\x80"s) == std::numeric_limits<std::int32_t>::min());
    CHECK(integer("J\xFF\xFF\xFF\x7F") == std::numeric_limits<std::int32_t>::max());
    CHECK(integer("J\xFF\xFF\xFF\x3F") == (1 << 30) - 1);
    CHECK(integer("J\0\0\0\x40"s) == 1 << 30);
    CHECK(integer("J\0\0\0\xC0"s) == -(1 << 30));
    CHECK(integer("J\xFF\xFF\xFF\xBF") == -(1 << 30) - 1);
}

TEST_CASE("a pickle's long integers may be of any length, and fit 64 bits or do not") {
    CHECK(integer("\x8A\0"s) == 0);
    CHECK(integer("\x8A\1\x80"s) == -128);
    CHECK(integer("\x8A\2\x80\0"s) == 128);
    CHECK(integer("\x8A\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F") == std::numeric_limits<std::int64_t>::max());
    CHECK(integer("\x8A\x08\0\0\0\0\0\0\0\x80"s) == std::numeric_limits<std::int64_t>::min());
    CHECK(integer("\x8B\2\0\0\0\1\2"s) == 513);
    CHECK(integer("\x8B\xC8\0\0\0\7"s + std::string(199, '\0')) == 7);  // longer than it need be
    CHECK(integer("\x8B\xC8\0\0\0\xFE"s + std::string(199, '\xFF')) == -2);
    const Read magic("\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19."s);
    CHECK(magic.pickle.type(magic.root()) == Type::large_integer);
    CHECK(magic.pickle.large_integer(magic.root()) == "\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19");
    CHECK_FALSE(magic.pickle.integer(magic.root()).has_value());
}

TEST_CASE("a pickle's texts and bytes are where they stand in it") {
    for (const std::string& bytes : {"X\2\0\0\0ab."s, "\x8C\2ab."s, "\x8D\2\0\0\0\0\0\0\0ab."s}) {
        const Read read(bytes);
        CHECK(read.pickle.type(read.root()) == Type::text);
        CHECK(read.pickle.string(read.root()) == "ab");
        CHECK(read.pickle.string(read.root())->data() == read.bytes.data() + read.bytes.size() - 3);
    }
    for (const std::string& bytes : {"B\2\0\0\0ab."s, "C\2ab."s, "\x8E\2\0\0\0\0\0\0\0ab."s, "T\2\0\0\0ab."s, "U\2ab."s,
                                     "\x96\2\0\0\0\0\0\0\0ab."s}) {
        const Read read(bytes);
        CHECK(read.pickle.type(read.root()) == Type::bytes);
        CHECK(read.pickle.string(read.root()) == "ab");
    }
}

TEST_CASE("a pickle's containers hold what was put into them") {
    CHECK(Read(")."s).items().empty());
    const Read pair("K\1K\2\x86."s), triple("K\1K\2K\3\x87."s), four("(K\1K\2K\3K\4t."s), list("(K\1K\2l."s);
    CHECK(pair.numbers(pair.root()) == Numbers{1, 2});
    CHECK(triple.numbers(triple.root()) == Numbers{1, 2, 3});
    CHECK(four.numbers(four.root()) == Numbers{1, 2, 3, 4});
    CHECK(list.pickle.type(list.root()) == Type::list);
    CHECK(list.numbers(list.root()) == Numbers{1, 2});
    const Read appended("]K\1a(K\2K\3e(eK\4a."s);
    CHECK(appended.numbers(appended.root()) == Numbers{1, 2, 3, 4});
    const Read dict("}K\1K\2s(K\3K\4K\5K\6u."s), made("(K\1K\2d."s);
    CHECK(dict.pickle.type(dict.root()) == Type::dict);
    CHECK(dict.numbers(dict.root()) == Numbers{1, 2, 3, 4, 5, 6});
    CHECK(made.numbers(made.root()) == Numbers{1, 2});
    const Read set("\x8F(K\1K\2\x90."s), frozen("(K\1\x91."s);
    CHECK(set.pickle.type(set.root()) == Type::set);
    CHECK(set.numbers(set.root()) == Numbers{1, 2});
    CHECK(frozen.numbers(frozen.root()) == Numbers{1});
}

TEST_CASE("a container that is remembered empty and filled later is the same one") {
    // [1, [...], 2], and beside it another that grows by turns with it.
    const Read read("]q\0K\1ah\0a]q\1K\x0A\x61h\0K\2ah\1K\x0B\x61\x86."s);
    const std::vector<Handle> both = read.items();
    REQUIRE(both.size() == 2);
    const std::vector<Handle> first = read.items(both[0]);
    REQUIRE(first.size() == 3);
    CHECK(read.pickle.integer(first[0]) == 1);
    CHECK(first[1] == both[0]);
    CHECK(read.pickle.integer(first[2]) == 2);
    CHECK(read.numbers(both[1]) == Numbers{10, 11});
}

TEST_CASE("MEMOIZE counts what was put before it") {
    const Read read("\x80\4K\7\x94K\x08\x94\x86\x94h\0h\1h\2\x87."s);
    const std::vector<Handle> items = read.items();
    REQUIRE(items.size() == 3);
    CHECK(read.pickle.integer(items[0]) == 7);
    CHECK(read.pickle.integer(items[1]) == 8);
    CHECK(read.numbers(items[2]) == Numbers{7, 8});
}

TEST_CASE("POP takes a value or a mark, POP_MARK all behind it, and DUP says a value twice") {
    CHECK(integer("K\1K\2"
                  "0") == 1);
    CHECK(integer("K\1(0") == 1);
    CHECK(integer("K\1(K\2K\3"
                  "1") == 1);
    const Read twice("]2\x86."s);
    CHECK(twice.items()[0] == twice.items()[1]);
}

TEST_CASE("a global is two texts, and a call of it what it is called with") {
    const Read read(PickleWriter().global("os", "system").text("true").raw("\x85R"));
    REQUIRE(read.pickle.type(read.root()) == Type::call);
    const Handle callee = read.pickle.callee(read.root());
    REQUIRE(read.pickle.type(callee) == Type::global);
    CHECK(read.pickle.global(callee).module == "os");
    CHECK(read.pickle.global(callee).name == "system");
    CHECK(read.pickle.is_called(callee));
    CHECK(read.pickle.string(read.items(read.pickle.arguments(read.root()))[0]) == "true");
    CHECK(read.pickle.is_none(read.pickle.state(read.root())));

    const Read stacked("\x8C\2os\x8C\6system\x93."s);
    CHECK(stacked.pickle.global(stacked.root()).module == "os");
    CHECK(stacked.pickle.global(stacked.root()).name == "system");
    CHECK_FALSE(stacked.pickle.is_called(stacked.root()));
}

TEST_CASE("what is set in the object of a call, and what BUILD gives it, are apart") {
    const Read read(PickleWriter()
                        .global("collections", "OrderedDict")
                        .raw(")R")
                        .integer(1)
                        .integer(2)
                        .raw("s")
                        .text("state")
                        .build()
                        .integer(3)
                        .integer(4)
                        .raw("s"));
    CHECK(read.numbers(read.root()) == Numbers{1, 2, 3, 4});
    CHECK(read.pickle.string(read.pickle.state(read.root())) == "state");
    // What was appended to it is lost, as is what is given to a class.
    const Read appended(PickleWriter().global("lib", "List").raw(")\x81K\1a(K\2e"));
    CHECK(appended.items().empty());
    const Read with_keywords(PickleWriter().global("x", "y").raw("K\1\x85}\x92"));
    CHECK(with_keywords.pickle.type(with_keywords.root()) == Type::call);
    CHECK(with_keywords.numbers(with_keywords.pickle.arguments(with_keywords.root())) == Numbers{1});
}

TEST_CASE("a persistent id is what it is made of") {
    const Read read("K\5\x85Q."s);
    REQUIRE(read.pickle.type(read.root()) == Type::persistent_id);
    CHECK(read.numbers(read.pickle.persistent_id(read.root())) == Numbers{5});
}

TEST_CASE("a pickle ends with STOP, whatever follows") {
    const Read read("K\1.K\2."s);
    CHECK(read.pickle.size() == 3);
    CHECK(read.pickle.integer(read.root()) == 1);
}

TEST_CASE("the end of a pickle is found as its bytes come in") {
    const std::string bytes = PickleWriter(4)
                                  .raw("\x95\x10\0\0\0\0\0\0\0"s)
                                  .global("a", "b")
                                  .text(std::string(300, 'x'))
                                  .raw("\x8C\3.N.")
                                  .integer64(0x2E2E2E2E)
                                  .raw("ttQR")
                                  .stop();
    std::uint64_t from = 0;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const End end = find_end(std::string_view(bytes).substr(0, size), from);
        REQUIRE_FALSE(end.is_found);
        REQUIRE(end.at > size);
        REQUIRE(end.at <= bytes.size());
    }
    const End end = find_end(bytes + "..", from);
    CHECK(end.is_found);
    CHECK(end.at == bytes.size());
}

TEST_CASE("a pickle that breaks a rule is refused, with the opcode and the place") {
    struct Bad {
        std::string bytes;
        std::string part;  // of the message
    };
    const std::vector<Bad> bad{
        {"", "without STOP"},
        {"N", "without STOP"},
        {".", "too little on the stack"},
        {"N..N"s.substr(3), "without STOP"},
        {"R", "too little on the stack"},
        {"NR", "too little on the stack"},
        {"N(.", "too little on the stack"},
        {"(N\x86", "too little on the stack"},
        {"N(N\x86", "too little on the stack"},
        {"N\x87", "too little on the stack"},
        {"(2", "too little on the stack"},
        {"0", "too little on the stack"},
        {"b", "too little on the stack"},
        {"Q", "too little on the stack"},
        {"a", "too little on the stack"},
        {"Na", "too little on the stack"},
        {"]K\1s", "too little on the stack"},
        {"](K\1s", "too little on the stack"},
        {"(K\1e", "too little on the stack"},
        {"q"s + '\0', "too little on the stack"},
        {"t", "no mark"},
        {"]e", "no mark"},
        {"}u", "no mark"},
        {"1", "no mark"},
        {"}(K\1u", "a key without a value"},
        {"(K\1d", "a key without a value"},
        {"NK\1a", "can hold none"},
        {"}K\1a", "can hold none"},
        {"]K\1K\2s", "can hold none"},
        {")K\1a", "can hold none"},
        {"](K\1\x90", "can hold none"},
        {"h"s + '\0', "nothing was put"},
        {"Nq\1h"s + '\0', "nothing was put"},
        {"Nr\xFF\xFF\xFF\xFF", "larger than the number of instructions"},
        {"Nj\xFF\xFF\xFF\xFF", "nothing was put"},
        {"X\xFF\xFF\xFF\xFF", "in the middle"},
        {"T\xFF\xFF\xFF\xFF", "length"},
        {"\x8B\xFF\xFF\xFF\xFF", "length"},
        {"\x8D\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "length"},
        {"\x8D\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", "in the middle"},
        {"\x8C\5abc", "in the middle"},
        {"X\3\0"s, "in the middle"},
        {"J\1\2\3", "in the middle"},
        {"cos\nsystem", "in the middle"},
        {"\x95\4\0\0\0\0\0\0\0N."s, "a frame that is cut short"},
        {"\x80\6", "a protocol later than 5"},
        {"\x80", "in the middle"},
        {"K\1K\2\x93", "no texts"},
        {"\x82\1", "registry"},
        {"\x83\1\0"s, "registry"},
        {"\x84\1\0\0\0"s, "registry"},
        {"\x97", "not in the pickle"},
        {"\x98", "not in the pickle"},
        {"I01\n.", "text protocols"},
        {"(S'touch x'\nios\nsystem\n.", "text protocols"},
        {"(cos\nsystem\nS'x'\no.", "text protocols"},
        {"L1L\n.", "text protocols"},
        {"F1\n.", "text protocols"},
        {"Va\n.", "text protocols"},
        {"Np0\n.", "text protocols"},
        {"g0\n.", "text protocols"},
        {"P1\n.", "text protocols"},
        {"\0."s, "no such opcode"},
        {"\xFF.", "no such opcode"},
        {"\x1B[31m", "no such opcode"},
    };
    for (const Bad& one : bad) {
        INFO(one.bytes);
        CHECK(contains(refusal(one.bytes), one.part));
        CHECK(contains(refusal(one.bytes), "byte"));
    }
    CHECK(refusal("K\1I01\n.") ==
          "an opcode of the text protocols 0 and 1, which are not read (opcode 0x49 at byte 2 of the pickle)");
}

TEST_CASE("every beginning of a pickle is refused, and none is read beyond its end") {
    const std::string bytes = PickleWriter(2)
                                  .global("collections", "OrderedDict")
                                  .raw(")R")
                                  .put(0)
                                  .mark()
                                  .text("name")
                                  .integers(Numbers{1, 2, 3})
                                  .set_items()
                                  .stop();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const std::vector<char> exact(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
        CHECK_THROWS_AS(read_pickle({exact.data(), exact.size()}), SyntaxError);
    }
    CHECK(refusal(bytes).empty());
}

TEST_CASE("containers in each other as deep as a pickle is long take no stack") {
    const std::size_t depth = 1'000'000;
    const Read lists(std::string(depth, ']') + std::string(depth - 1, 'a') + '.');
    std::size_t levels = 1;
    for (Handle at = lists.root(); !lists.pickle.items(at).empty(); at = *lists.pickle.items(at).begin()) ++levels;
    CHECK(levels == depth);
    const Read tuples("N" + std::string(depth, '\x85') + '.');
    CHECK(tuples.pickle.type(tuples.root()) == Type::tuple);
    CHECK(Read(std::string(depth, '(') + "N" + std::string(depth, 't') + '.').items().size() == 1);
}

TEST_CASE("a tuple that holds the one before twice is read once, forty times over") {
    std::string bytes = ")";
    for (int i = 0; i < 60; ++i) bytes += "2\x86";
    const Read read(bytes + '.');
    CHECK(read.pickle.nodes() < 100);
    CHECK(read.items()[0] == read.items()[1]);
}

TEST_CASE("what a pickle would look up is listed, each object once and in order") {
    const Read read(PickleWriter(4)
                        .global("torch", "float32")
                        .global("os", "system")
                        .raw(")R")
                        .raw("\x8C\2os\x8C\6system\x93")
                        .global("a b", "c")
                        .global("x.y", "Z")
                        .raw(")\x81"
                             "0000")
                        .global("torch", "float32"));
    const std::vector<GlobalUse> uses = globals_of(read.pickle);
    REQUIRE(uses.size() == 4);
    CHECK((uses[0].module == "torch" && uses[0].name == "float32" && !uses[0].is_called));
    CHECK((uses[1].module == "os" && uses[1].name == "system" && uses[1].is_called));
    CHECK((uses[2].module == "a b" && uses[2].name == "c" && !uses[2].is_called));
    CHECK((uses[3].module == "x.y" && uses[3].name == "Z" && uses[3].is_called));
}
