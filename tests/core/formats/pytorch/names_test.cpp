#include <algorithm>
#include <chrono>

#include "tests/core/formats/pytorch/writer.hpp"
#include "tests/support/expect.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// The ways through a checkpoint, and what the tensors are called by them. The memo holds the one tensor
// there is at 0.

namespace {

using pytorch::Checkpoint;
using Names = std::vector<std::string>;

/// A pickle that has made a tensor and put it at 0.
PickleWriter with_tensor(int protocol = 2) {
    PickleWriter pickle(protocol);
    write_tensor(pickle).put(0).raw("0");
    return pickle;
}

Checkpoint read(const PickleWriter& pickle, std::string_view key = {}) {
    return read_bytes(archive(pickle.stop()), key);
}

Names names(const PickleWriter& pickle, std::string_view key = {}) {
    const Checkpoint checkpoint = read(pickle, key);
    CHECK(checkpoint.problems.empty());
    CHECK(checkpoint.left_out.empty());
    return names_of(checkpoint);
}

/// What is wrong with it.
std::string refusal(const PickleWriter& pickle, std::string_view key = {}) {
    Checkpoint checkpoint;
    std::vector<Problem> problems = problems_of([&] { checkpoint = read(pickle, key); });
    if (problems.empty()) problems = checkpoint.problems;
    std::string text;
    for (const Problem& problem : problems) text += to_string(problem) + '\n';
    return text;
}

/// Names of a dict with the tensor under one key, which `key` writes.
Names named(const std::string& key) { return names(with_tensor().dict().raw(key).get(0).raw("s")); }

constexpr std::string_view empty_key = "";

}  // namespace

TEST_CASE("a tensor's name is the way to it, through dicts, lists and tuples") {
    CHECK(names(with_tensor().get(0)) == Names{""});
    CHECK(names(with_tensor().list().mark().none().get(0).get(0).appends()) == Names{"1", "2"});
    CHECK(names(with_tensor().get(0).get(0).raw("\x86")) == Names{"0", "1"});
    CHECK(names(with_tensor().dict().text("model").dict().text("w").get(0).raw("ss")) == Names{"model.w"});
    CHECK(names(with_tensor().dict().text("").dict().text("w").get(0).raw("ss")) == Names{".w"});
    CHECK(names(with_tensor().dict().text("").dict().text("").get(0).raw("ss")) == Names{"."});
    CHECK(names(with_tensor().dict().text("a.b").get(0).raw("s")) == Names{"a.b"});
}

TEST_CASE("texts, bytes, integers and bools are names, and nothing else is") {
    CHECK(named("X\5" + std::string(3, '\0') + "caf\xC3\xA9") == Names{"caf\xC3\xA9"});
    CHECK(named("U\5caf\xC3\xA9") == Names{"caf\xC3\xA9"});
    CHECK(named("J\xFD\xFF\xFF\xFF") == Names{"-3"});
    CHECK(named("\x8A\6" + std::string(5, '\0') + "\1") == Names{"1099511627776"});
    CHECK(named("\x88") == Names{"1"});
    CHECK(named("\x89") == Names{"0"});
    // How protocol 2 has the bytes C3 A9: as two characters, to be encoded.
    const std::string latin1 = "X\6" + std::string(3, '\0') + "latin1\x86R";
    CHECK(named("c_codecs\nencode\nX\4" + std::string(3, '\0') + "\xC3\x83\xC2\xA9" + latin1) == Names{"\xC3\xA9"});
    CHECK(named("c__builtin__\nbytes\n)R") == Names{""});
    for (const std::string& key :
         {std::string("N"), std::string("G\x3F\xF8\0\0\0\0\0\0", 9), std::string("K\1\x85"), std::string(")"),
          std::string("cos\nsystem\n)R"), std::string("cos\nsystem\n"), std::string("]"), std::string("U\1\xFF"),
          std::string("X\3\0\0\0\xED\xA0\x80", 8), "\x8A\x09" + std::string(8, '\xFF') + std::string(1, '\0'),
          // These encode to no UTF-8, to none of Latin-1, and in another way.
          "c_codecs\nencode\nX\2" + std::string(3, '\0') + "\xC3\xBF" + latin1,
          "c_codecs\nencode\nX\3" + std::string(3, '\0') + "\xE2\x82\xAC" + latin1,
          "c_codecs\nencode\nX\1" + std::string(3, '\0') + "a" + "X\5" + std::string(3, '\0') + "utf-7\x86R"}) {
        INFO(key);
        PickleWriter pickle = with_tensor();
        pickle.dict().text("good").get(0).raw("s").text("in").dict().raw(key).get(0).raw("ss");
        const Checkpoint checkpoint = read(pickle);
        CHECK(names_of(checkpoint) == Names{"good"});
        REQUIRE(checkpoint.left_out.size() == 1);
        CHECK(checkpoint.left_out[0].name == "in");
        CHECK(contains(checkpoint.left_out[0].why, "no name"));
    }
}

TEST_CASE("a key of 2^60 leaves is looked at no further than that it is a tuple") {
    PickleWriter pickle = with_tensor();
    pickle.dict().text("w").get(0).raw("s").raw(")");
    for (int i = 0; i < 60; ++i) pickle.raw("2\x86");
    CHECK(names(pickle.integer(1).raw("s")) == Names{"w"});
}

TEST_CASE("calls of dict's kin are dicts, with what they are called with and what is set in them") {
    const auto called = [](const std::string& module, const std::string& name, const std::string& before) {
        PickleWriter pickle = with_tensor();
        pickle.global(module, name).mark().raw(before).list().mark();
        pickle.text("a").get(0).raw("\x86");                                       // a pair as a tuple,
        pickle.list().mark().text("b").get(0).appends().appends().tuple().call();  // and one as a list
        return names(pickle.text("c").get(0).raw("s").dict().text("d").get(0).raw("s").build());
    };
    const Names all{"a", "b", "c"};
    CHECK(called("collections", "OrderedDict", "") == all);
    CHECK(called("collections", "Counter", "") == all);
    CHECK(called("builtins", "dict", "") == all);
    CHECK(called("__builtin__", "dict", "") == all);
    CHECK(called("collections", "defaultdict", "cbuiltins\nlist\n") == all);
    PickleWriter of_dict = with_tensor();
    of_dict.global("collections", "OrderedDict").dict().text("w").get(0).raw("s\x85R");
    CHECK(names(of_dict) == Names{"w"});
    CHECK(contains(refusal(with_tensor().global("my", "Dict").raw(")\x81").text("w").get(0).raw("s")), "NotAModel"));
}

TEST_CASE("a module's tensors have the names that its state_dict() has") {
    PickleWriter pickle = with_tensor();
    const auto module = [&](const char* name) { pickle.global("my.models", name).raw(")\x81").dict().mark(); };
    module("Outer");
    pickle.text("training").yes();
    pickle.text("_modules").global("collections", "OrderedDict").raw(")R").text("0");
    module("Inner");
    pickle.text("_parameters").dict().mark().text("weight").get(0).text("bias").none().set_items();
    pickle.text("_buffers").dict().text("mean").get(0).raw("s");
    pickle.text("_modules").dict().text("gone").none().raw("s");
    pickle.text("cache").get(0).set_items().build();
    pickle.raw("s").set_items().build();
    CHECK(names(pickle) == Names{"0.weight", "0.mean"});
    CHECK(contains(refusal(with_tensor().global("my", "Settings").raw(")\x81").dict().text("weight").get(0).raw("sb")),
                   "NotAModel"));
}

TEST_CASE("a container that is met twice gives its tensors both names") {
    PickleWriter pickle = with_tensor();
    pickle.dict().mark().text("model").dict().put(1).text("w").get(0).raw("s").text("ema").get(1).set_items();
    CHECK(names(pickle) == Names{"model.w", "ema.w"});
}

TEST_CASE("a way is cut where a container comes back in itself") {
    PickleWriter list = with_tensor();
    CHECK(names(list.list().put(1).mark().get(0).get(1).get(0).appends()) == Names{"0", "2"});
    PickleWriter dict = with_tensor();
    dict.dict().put(1).mark().text("self").get(1).text("w").get(0).set_items();
    CHECK(names(dict) == Names{"w"});
    // Two lists that hold each other, of which the second alone has the tensor, by both ways.
    PickleWriter both = with_tensor();
    both.list().put(1).list().put(2).mark().get(1).get(0).appends().raw("a").raw("0");
    CHECK(names(both.get(1).get(2).raw("\x86")) == Names{"0.0.1", "1.1"});
    PickleWriter tuple = with_tensor();  // a tuple by way of a list in it
    tuple.list().put(1).raw("\x85").put(2).raw("0").get(1).mark().get(2).get(0).appends().raw("0").get(2);
    CHECK(names(tuple) == Names{"0.1"});
    PickleWriter module;
    module.global("m", "M").raw(")\x81").put(1).dict().text("_modules").dict().text("self").get(1).raw("ssb");
    CHECK(contains(refusal(module), "NotAModel"));
}

TEST_CASE("containers without tensors are walked once, however often they are met") {
    // Sixty lists of which each holds the one before twice, and in a circle the last.
    PickleWriter pickle = with_tensor();
    pickle.list().put(1);
    for (int i = 0; i < 60; ++i) pickle.raw("2\x86");
    pickle.put(2).raw("0").get(1).get(2).raw("a0");
    pickle.dict().mark().text("junk").get(2).text("w").get(0).set_items();
    const auto begin = std::chrono::steady_clock::now();
    CHECK(names(pickle) == Names{"w"});
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
}

TEST_CASE("a small pickle that makes more names than there is room for is refused") {
    PickleWriter pickle = with_tensor();
    pickle.get(0);
    for (int i = 0; i < 40; ++i) pickle.raw("2\x86");
    const auto begin = std::chrono::steady_clock::now();
    CHECK(contains(refusal(pickle), "InvalidPickle"));
    // A key of a megabyte, in front of each of many names.
    PickleWriter long_names = with_tensor();
    long_names.dict().text(std::string(1 << 20, 'n')).list().mark();
    for (int i = 0; i < 10'000; ++i) long_names.get(0);
    CHECK(contains(refusal(long_names.appends().raw("s")), "InvalidPickle"));
    // Names that come from containers which go round in circles of all lengths.
    PickleWriter circles = with_tensor();
    for (int i = 1; i <= 16; ++i) circles.list().put(i).raw("0");
    for (int i = 1; i <= 16; ++i) {
        circles.get(i).mark();
        for (int j = 1; j <= 16; ++j) circles.get(j);
        circles.appends().raw("0");
    }
    CHECK(contains(refusal(circles.get(1).get(0).raw("a")), "InvalidPickle"));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("tensors deeper than 64 containers are left out, and nothing is said where there are none") {
    const auto nested = [](int depth, bool holds) {
        PickleWriter pickle = with_tensor();
        pickle.dict().mark().text("w").get(0).text("far");
        for (int i = 1; i < depth; ++i) pickle.list();
        if (holds) pickle.get(0).raw("a");
        pickle.raw(std::string(static_cast<std::size_t>(depth) - 2, 'a'));
        return pickle.set_items();
    };
    CHECK(names(nested(64, true)).size() == 2);
    CHECK(read(nested(65, true)).left_out.size() == 1);
    CHECK(read(nested(100'000, true)).left_out.size() == 1);
    CHECK(names(nested(100'000, false)) == Names{"w"});
}

TEST_CASE("two tensors of one full name are a problem, and the first is kept") {
    PickleWriter pickle = with_tensor();
    pickle.dict().mark().text("a.b").get(0).text("a").dict().text("b").get(0).raw("s").text("c").get(0).set_items();
    const Checkpoint checkpoint = read(pickle);
    CHECK(kinds(checkpoint.problems) == "DuplicateName ");
    CHECK(checkpoint.problems.at(0).tensor == "a.b");
    CHECK(names_of(checkpoint) == Names{"a.b", "c"});
    PickleWriter thrice = with_tensor();
    thrice.dict().mark().text("a").get(0).bytes("a").get(0).text("a").get(0).set_items();
    CHECK(kinds(read(thrice).problems) == "DuplicateName ");
}

TEST_CASE("a key takes a container as the root") {
    PickleWriter pickle = with_tensor();
    pickle.dict().mark().text("state_dict").dict().text("w").get(0).raw("s");
    pickle.text("model").dict().text("ema").dict().text("v").get(0).raw("ss");
    pickle.text("a.b").dict().text("u").get(0).raw("s").text("a").dict().text("x").get(0).raw("s");
    pickle.text("list").list().mark().none().dict().text("t").get(0).raw("s").appends();
    pickle.text("bare").get(0).text("epoch").integer(3).set_items();
    CHECK(names(pickle).size() == 6);
    CHECK(names(pickle, "state_dict") == Names{"w"});
    CHECK(names(pickle, "model") == Names{"ema.v"});
    CHECK(names(pickle, "model.ema") == Names{"v"});
    CHECK(names(pickle, "a.b") == Names{"u"});
    CHECK(names(pickle, "a") == Names{"x"});
    CHECK(names(pickle, "list.1") == Names{"t"});
    CHECK(contains(refusal(pickle, "stat"), R"(has no "stat": there are "state_dict", "model", "a.b", "a", "list")"));
    CHECK(contains(refusal(pickle, "model.x"), R"("model" has no "x": there are "ema")"));
    CHECK(contains(refusal(pickle, "model.ema.v"), "no dict"));
    CHECK(contains(refusal(pickle, "state_dict.w.x"), R"("state_dict.w" has no "x": nothing there)"));
    CHECK(contains(refusal(pickle, "bare"), "no dict"));
    CHECK(contains(refusal(pickle, "epoch"), "no dict"));
    CHECK(contains(refusal(pickle, "."), "NotAModel"));
    CHECK(contains(refusal(pickle, "model."), "NotAModel"));
    CHECK(contains(refusal(pickle, std::string(1000, '.')), "NotAModel"));
    PickleWriter nameless = with_tensor();
    nameless.dict().text(empty_key).dict().text(empty_key).dict().text("w").get(0).raw("sss");
    CHECK(names(nameless, ".") == Names{"w"});
}

TEST_CASE("what a checkpoint would have looked up is told, but for what PyTorch allows by itself") {
    PickleWriter pickle = with_tensor();
    pickle.global("os", "system").raw(")R0").global("models.yolo", "Model").raw("0");
    pickle.global("builtins", "eval")
        .raw(")R0")
        .global("builtins", "set")
        .raw("0")
        .global("__builtin__", "set")
        .raw("0");
    pickle.global("torch", "bfloat16").raw("0").global("torch", "per_tensor_affine").raw("0");
    pickle.global("torch.sparse", "FloatTensor").raw("0").global("torch.cuda", "HalfTensor").raw("0");
    pickle.global("torch", "qint8").raw("0").global("my.own", "FloatStorage").raw("0");
    pickle.global("my.own", "CalledStorage").raw(")R0").global("torch._utils", "_import_dotted_name").raw(")R0");
    const Checkpoint checkpoint = read(pickle.get(0));
    Names called, looked_up;
    for (const pytorch::Code& code : checkpoint.code) (code.is_called ? called : looked_up).push_back(code.name);
    CHECK(called == Names{"os.system", "builtins.eval", "my.own.CalledStorage", "torch._utils._import_dotted_name"});
    CHECK(looked_up == Names{"models.yolo.Model"});
}

TEST_CASE("what a checkpoint would have called by a function that it calls is told as called") {
    PickleWriter pickle = with_tensor();
    pickle.global("torch._tensor", "_rebuild_from_type_v2").mark().global("os", "system").global("my", "Class");
    const Checkpoint checkpoint = read(pickle.none().none().tuple().raw("R0").get(0));
    REQUIRE(checkpoint.code.size() == 2);
    CHECK((checkpoint.code[0].name == "os.system" && checkpoint.code[0].is_called));
    CHECK((checkpoint.code[1].name == "my.Class" && checkpoint.code[1].is_called));
}
