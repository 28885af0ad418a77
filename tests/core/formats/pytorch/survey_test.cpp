#include "core/formats/pytorch/survey.hpp"

#include "tests/core/formats/pytorch/writer.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;
using namespace std::string_literals;

// What a file would run that is refused.

namespace {

using Names = std::vector<std::string>;

Names survey(const std::string& bytes) {
    const TemporaryFolder folder;
    write_file(folder / "model.pt", bytes);
    return pytorch::survey(Shard(folder / "model.pt"));
}

const Names os_system{"os.system"};

}  // namespace

TEST_CASE("what pickles of the text protocols would call is named") {
    CHECK(survey("cos\nsystem\n(S'touch x'\ntR.") == os_system);
    CHECK(survey("(S'touch x'\nios\nsystem\n.") == os_system);
    CHECK(survey("(cos\nsystem\nVtouch x\no.") == os_system);
    CHECK(survey("(lp0\nS'os'\np1\nag1\nS'system'\n\x93(S'x'\ntR.") == os_system);
    CHECK(survey("(dp0\nS'a'\nI1\nsS'b'\nF1.5\nsS'c'\nL7L\nsS'd'\nccollections\nOrderedDict\n(tRs.").empty());
    CHECK(survey("Px\n0ca\nb\n.") == Names{"a.b"});
}

TEST_CASE("what a pickle would call before it breaks is named, as it is what Python has done by then") {
    const std::string call = "cos\nsystem\n(X\1\0\0\0xtR"s;
    CHECK(survey("\x80\2" + call) == os_system);
    CHECK(survey("\x80\2" + call + "\xFF") == os_system);
    CHECK(survey("\x80\2" + call + "\x82\1.") == os_system);
    CHECK(survey("\x80\2" + call + "0R.") == os_system);
    CHECK(survey("\x80\2" + call + "X\xFF\xFF\xFF\xFF") == os_system);
    CHECK(survey("\x80\2Nr\xFF\xFF\xFF\x7F" + call + ".") == os_system);  // a place in the memo that is not read
    CHECK(survey("\x80\2NR" + call + ".").empty());                       // Python has failed before
    CHECK(survey("\x80\2N.\x80\2" + call + ".") == os_system);            // as in a legacy stream
    CHECK(survey("\x80\2N." + call + ".").empty());                       // data, as behind one
    CHECK(survey("\x80\4\x8C\2os\x94\x8C\6system\x94\x93\x8C\1x\x85R.") == os_system);
}

TEST_CASE("of an archive that is refused, all stored pickles are looked at") {
    const std::string call = PickleWriter().global("os", "system").raw(")R").stop();
    CHECK(survey(archive("(S'touch x'\nios\nsystem\n.")) == os_system);
    CHECK(survey(zip_archive({{"a/data.pkl", "N."}, {"b/data.pkl", call}})) == os_system);
    CHECK(survey(zip_archive({{"a/data.pkl", call}, {"a/constants.pkl", "N."}})) == os_system);
    CHECK(survey(zip_archive({{"a/b/data.pkl", call}})) == os_system);
    CHECK(survey(zip_archive({{"a/data.txt", call}})).empty());
}

TEST_CASE("nothing is found in what is no pickle, and nothing that could not be imported") {
    CHECK(survey("").empty());
    CHECK(survey("PK\3\4").empty());
    CHECK(survey("c\1\n\2\n.").empty());
    CHECK(survey(sample_bytes(100'000, 3)).empty());
}

TEST_CASE("what a refused checkpoint would call stands among its problems") {
    const TemporaryFolder folder;
    const auto problems = [&](const std::string& bytes) {
        write_file(folder / "m.pt", bytes);
        return problems_of([&] { pytorch::read_header(Shard(folder / "m.pt")); });
    };
    const std::vector<Problem> found = problems(
        "\x80\2"
        "cos\nsystem\n)R.");
    REQUIRE(kinds(found) == "NotAModel RunsCode ");
    CHECK(found[1].text == "unpickling it would call os.system");
    CHECK(kinds(problems("cos\nsystem\n(tR.")) == "NotAModel RunsCode ");
    CHECK(kinds(problems(archive("(ios\nsystem\n."))) == "InvalidPickle RunsCode ");
    // A tensor beyond its storage, beside a call.
    PickleWriter pickle;
    pickle.dict().mark().text("x").global("os", "system").raw(")R").text("w");
    write_tensor(pickle, {{}, 1, {4}, {1}}).set_items();
    CHECK(kinds(problems(archive(pickle.stop()))) == "StorageOutOfBounds RunsCode ");
    CHECK(kinds(problems(archive(PickleWriter().none().stop()))) == "NotAModel ");
}

TEST_CASE("a call cannot hide among more names than are read") {
    PickleWriter pickle;
    pickle.dict().mark();
    for (int i = 0; i < 11'000; ++i) pickle.text("k").global("m" + std::to_string(i), "Storage");
    pickle.text("x").global("os", "system").raw(")R");
    write_tensor(pickle.text("w")).set_items();
    const TemporaryFolder folder;
    write_file(folder / "m.pt", archive(pickle.stop()));
    const std::vector<Problem> found = problems_of([&] { pytorch::read_header(Shard(folder / "m.pt")); });
    REQUIRE_FALSE(found.empty());
    CHECK(contains(found[0].text, "more objects than are read"));
}
