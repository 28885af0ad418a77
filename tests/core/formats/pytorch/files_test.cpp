#include <fstream>

#include "core/formats/pytorch/legacy.hpp"
#include "tests/core/formats/pytorch/writer.hpp"
#include "tests/support/expect.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// The two forms of files, around pickles that are sound.

namespace {

using pytorch::Checkpoint;
using Names = std::vector<std::string>;

const std::string bytes0(16, 'a'), bytes1(8, 'b');
const StorageBytes two_storages{{"10", bytes0}, {"2", bytes1}};

/// The pickle of {"a": …, "b": …}, each the whole of a storage of two_storages.
std::string two_tensors(bool legacy, int protocol = 2) {
    PickleWriter pickle(protocol);
    pickle.dict().mark();
    write_tensor(pickle.text("a"), {{"FloatStorage", "10", 4}, 0, {4}, {1}}, legacy);
    write_tensor(pickle.text("b"), {{"FloatStorage", "2", 2}, 0, {2}, {1}}, legacy);
    return pickle.set_items().stop();
}

std::string kinds_of(const std::string& file) {
    Checkpoint checkpoint;
    const std::vector<Problem> problems = problems_of([&] { checkpoint = read_bytes(file); });
    return kinds(problems) + kinds(checkpoint.problems);
}

std::string message(const std::string& file) {
    const std::vector<Problem> problems = problems_of([&] { read_bytes(file); });
    return problems.empty() ? "" : problems[0].text;
}

/// Whether both tensors are where their bytes are.
void check_places(const std::string& file) {
    const Checkpoint checkpoint = read_bytes(file);
    REQUIRE(names_of(checkpoint) == Names{"a", "b"});
    CHECK(file.substr(checkpoint.tensors[0].offset, checkpoint.tensors[0].nbytes) == bytes0);
    CHECK(file.substr(checkpoint.tensors[1].offset, checkpoint.tensors[1].nbytes) == bytes1);
}

}  // namespace

TEST_CASE("a legacy stream's storages follow its pickles, in the order of the list") {
    for (const int protocol : {2, 3, 4, 5}) {
        const std::string pickle = two_tensors(true, protocol);
        check_places(legacy_stream(pickle, two_storages, 4, protocol));
        check_places(legacy_stream(pickle, {two_storages[1], two_storages[0]}, 4, protocol));
    }
    check_places(legacy_stream(two_tensors(true), two_storages, 4) + "trailing");
    std::string framed = legacy_stream(two_tensors(true), two_storages, 4);
    CHECK(pytorch::is_legacy(framed));
    CHECK_FALSE(pytorch::is_legacy("\x80\2K\1."));
    CHECK_FALSE(pytorch::is_legacy(""));
    CHECK_FALSE(pytorch::is_legacy("\x80"));
}

TEST_CASE("a legacy stream that is cut short is refused, wherever it is cut") {
    const std::string file = legacy_stream(two_tensors(true), two_storages, 4);
    for (std::size_t size = 0; size < file.size(); ++size) {
        INFO(size);
        CHECK(kinds_of(file.substr(0, size)) != "");
    }
}

TEST_CASE("a legacy stream whose pickles are larger than one read is read whole") {
    PickleWriter pickle;
    pickle.dict().mark();
    for (int i = 0; i < 1000; ++i) pickle.text("note" + std::to_string(i)).text(std::string(100, 'x'));
    write_tensor(pickle.text("a"), {{"FloatStorage", "10", 4}, 0, {4}, {1}}, true);
    write_tensor(pickle.text("b"), {{"FloatStorage", "2", 2}, 0, {2}, {1}}, true);
    check_places(legacy_stream(pickle.set_items().stop(), two_storages, 4));
}

TEST_CASE("a legacy stream that contradicts itself is refused") {
    const std::string pickle = two_tensors(true);
    CHECK(kinds_of(legacy_stream(pickle, {two_storages[0]}, 4)) == "MissingStorage ");
    CHECK(kinds_of(legacy_stream(pickle, {{"10", bytes0}, {"2", bytes1}, {"3", ""}}, 4)) == "InvalidPickle ");
    CHECK(kinds_of(legacy_stream(pickle, {{"10", bytes0}, {"2", bytes1}, {"2", bytes1}}, 4)) == "InvalidPickle ");
    CHECK(kinds_of(legacy_stream(pickle, {{"10", bytes0}, {"2", bytes1 + bytes1}}, 4)) == "StorageOutOfBounds ");
    CHECK(kinds_of(legacy_stream(pickle, two_storages, 2)) == "StorageOutOfBounds ");
    CHECK(kinds_of(legacy_stream(two_tensors(false), two_storages, 4)) == "InvalidPickle ");
    CHECK(kinds_of(archive(pickle, two_storages)) == "InvalidPickle ");

    const std::string magic = PickleWriter().large_integer("\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19").stop();
    CHECK(contains(message(magic + PickleWriter().integer(1002).stop()), "1001"));
    CHECK(contains(message(magic + PickleWriter().global("os", "system").raw(")R").stop()), "1001"));
    CHECK(contains(message(PickleWriter().global("os", "system").raw(")R").stop()), "not one that PyTorch saved"));
    CHECK(contains(message(PickleWriter().integer(5).stop()), "not one that PyTorch saved"));
    PickleWriter huge;
    CHECK(contains(message(magic + PickleWriter().integer(1001).stop() + huge.raw("X\xFF\xFF\xFF\xFF").so_far()),
                   "cut short"));
}

TEST_CASE("a legacy stream may give a storage as a view of another") {
    const auto viewing = [](std::int64_t first, std::int64_t size) {
        PickleWriter pickle;
        pickle.dict().text("v").global("torch._utils", "_rebuild_tensor").mark();
        pickle.mark().text("storage").global("torch", "FloatStorage").text("0").text("cpu").integer(4);
        pickle.mark().text("view").integer64(first).integer64(size).tuple().tuple().raw("Q");
        pickle.integer(1).integers(Dims{2}).integers(Dims{1}).tuple().call().raw("s");
        return legacy_stream(pickle.stop(), {{"0", "aaaabbbbccccdddd"}}, 4);
    };
    const std::string file = viewing(1, 3);
    const Checkpoint checkpoint = read_bytes(file);
    REQUIRE(checkpoint.tensors.size() == 1);
    CHECK(file.substr(checkpoint.tensors[0].offset, checkpoint.tensors[0].nbytes) == "ccccdddd");
    CHECK(kinds_of(viewing(1, 2)) == "StorageOutOfBounds ");  // the tensor beyond the view
    CHECK(kinds_of(viewing(1, 4)) == "StorageOutOfBounds ");  // the view beyond its root
    CHECK(kinds_of(viewing(5, 0)) == "StorageOutOfBounds ");
    CHECK(kinds_of(viewing(INT64_MAX, INT64_MAX)) == "StorageOutOfBounds ");
    CHECK(kinds_of(viewing(-1, 2)) == "InvalidPickle ");
}

TEST_CASE("a legacy stream names the classes of whole modules by persistent ids") {
    PickleWriter pickle;
    pickle.mark().text("module").global("my", "Net").text("net.py").text("source").tuple().raw("Q)\x81");
    pickle.dict().text("_parameters").dict();
    write_tensor(pickle.text("w"), {}, true).raw("ssb");
    CHECK(names_of(read_bytes(legacy_stream(pickle.stop(), one_storage(), 4))) == Names{"w"});
}

TEST_CASE("what any pickle of a legacy stream would call is told") {
    PickleWriter object, machine;
    write_tensor(object.dict().text("w"), {}, true).raw("s");
    std::string file = legacy_stream(object.stop(), one_storage(), 4);
    const std::string sound = PickleWriter().dict().stop();
    file.replace(file.find(sound), sound.size(), machine.global("os", "system").raw(")R").stop());
    const Checkpoint checkpoint = read_bytes(file);
    REQUIRE(checkpoint.code.size() == 1);
    CHECK(checkpoint.code[0].name == "os.system");
    CHECK(checkpoint.code[0].is_called);
}

TEST_CASE("an archive's storages are members, and other members do not matter") {
    check_places(archive(two_tensors(false), two_storages));
    const std::string pickle = two_tensors(false);
    const auto with = [&](const ZipMember& member) {
        return zip_archive(
            {{"top/data.pkl", pickle}, {"top/data/10", bytes0 + "more"}, {"top/data/2", bytes1}, member});
    };
    check_places(with({"top/byteorder", "little"}));
    check_places(with({"top/version", "3\n"}));
    check_places(with({"elsewhere", "x"}));
    check_places(with({"a/b/data.pkl", "x"}));
    CHECK(kinds_of(with({"top/byteorder", "big"})) == "BigEndian ");
    CHECK(kinds_of(with({"top/byteorder", "middle"})) == "InvalidPickle ");
    CHECK(kinds_of(with({"top/byteorder", std::string(65, 'b')})) == "InvalidPickle ");
    CHECK(kinds_of(with({"top/constants.pkl", ""})) == "NotAModel ");
    CHECK(contains(message(with({"top/constants.pkl", ""})), "TorchScript"));
    CHECK(kinds_of(with({"other/data.pkl", pickle})) == "InvalidArchive ");
}

TEST_CASE("an archive whose pickle cannot be read in place is refused") {
    ZipMember deflated{"a/data.pkl", "zz", 8};
    deflated.inflated = 100;
    CHECK(kinds_of(zip_archive({deflated})) == "CompressedMember ");
    CHECK(kinds_of(zip_archive({{"a/data.pkl", "K\1.", 0, 1}})) == "CompressedMember ");
    CHECK(contains(message(zip_archive({{"a/data.pkl", "K\1."}})), "no tensor"));
    CHECK(contains(message(zip_archive({{"a/data.pkl", "K\1"}})), "without STOP"));
    CHECK(kinds_of(zip_archive({{"a/b/data.pkl", "K\1."}})) == "NotAModel ");
    CHECK(kinds_of(zip_archive({{"data.pkl", "K\1."}})) == "NotAModel ");
}

TEST_CASE("what is no checkpoint is told by what it is") {
    std::string tar(1024, '\0');
    tar.replace(0, 8, "sys_info");
    tar.replace(257, 5, "ustar");
    CHECK(contains(message(tar), "before 2017"));
    CHECK(contains(message(""), "neither"));
    CHECK(contains(message("x"), "neither"));
    CHECK(contains(message(std::string(600, 'x')), "neither"));
}
