#include "tests/core/formats/pytorch/writer.hpp"
#include "tests/support/expect.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// A checkpoint as a header, which is what all else sees of it.

namespace {

using Names = std::vector<std::string>;

Header header_of(const std::string& bytes, const HeaderOptions& options = {}) {
    const TemporaryFolder folder;
    write_file(folder / "model.pt", bytes);
    return pytorch::read_header(Shard(folder / "model.pt"), options);
}

bool is_content(const std::string& bytes) {
    const TemporaryFolder folder;
    write_file(folder / "file", bytes);
    return pytorch::is_content(std::string_view(bytes).substr(0, 64), Shard(folder / "file"));
}

Names in_data_order(const Header& header) {
    Names names;
    for (const Tensor& tensor : header.tensors) names.emplace_back(tensor.full_name());
    return names;
}

/// Two tensors of one storage, the later first, and one that is strided.
PickleWriter three_tensors() {
    PickleWriter pickle;
    pickle.dict().mark();
    write_tensor(pickle.text("late"), {{}, 2, {2}, {1}});
    write_tensor(pickle.text("turned"), {{}, 0, {2, 2}, {1, 2}});
    write_tensor(pickle.text("early"), {{}, 0, {2}, {1}});
    return pickle.set_items();
}

}  // namespace

TEST_CASE("a checkpoint's header has its tensors in data order, and strides where they are no slices") {
    const std::string file = archive(three_tensors().stop());
    const Header header = header_of(file);
    REQUIRE(in_data_order(header) == Names{"early", "turned", "late"});
    const std::uint64_t data = file.find(std::string(16, 's'));
    CHECK(header.tensors[0].offset() == data);
    CHECK(header.tensors[0].nbytes() == 8);
    CHECK_FALSE(header.tensors[0].is_strided());
    CHECK(header.tensors[1].is_strided());
    CHECK(header.tensors[1].nbytes() == 16);
    CHECK(header.tensors[1].elements() == 4);
    const Strides strides = header.tensors[1].strides();
    CHECK(std::vector<std::uint64_t>(strides.begin(), strides.end()) == std::vector<std::uint64_t>{1, 2});
    CHECK(header.tensors[2].offset() == data + 8);
    CHECK(header.by_name == std::vector<std::uint32_t>{0, 2, 1});
    CHECK(header.notes.empty());
    CHECK(header.calls.empty());
    CHECK(header.problems.empty());
    CHECK(header.metadata.empty());
}

TEST_CASE("a checkpoint's names stand behind the prefix") {
    const Header header = header_of(archive(three_tensors().stop()), {"unet/"});
    CHECK(in_data_order(header) == Names{"unet/early", "unet/turned", "unet/late"});
    CHECK(header.tensors[0].name() == "early");
}

TEST_CASE("a checkpoint's header can be that of a part") {
    PickleWriter pickle;
    write_tensor(pickle.dict().text("model").dict().text("w")).raw("ss");
    CHECK(in_data_order(header_of(archive(pickle.stop()), {.key = "model"})) == Names{"w"});
    CHECK(kinds(problems_of([&] { header_of(archive(pickle.stop()), {.key = "ema"}); })) == "NotAModel ");
}

TEST_CASE("what a checkpoint cannot show, and what it would run, stands in its header") {
    PickleWriter pickle;
    pickle.dict().mark().text("config").global("my", "Config").text("x").global("os", "system").raw(")R");
    pickle.text("s").global("torch._utils", "_rebuild_sparse_tensor").raw(")R");
    write_tensor(pickle.text("w")).set_items();
    const Header header = header_of(archive(pickle.stop()));
    CHECK(header.notes == Names{"tensor \"s\" is left out: a sparse tensor"});
    CHECK(header.calls == Names{"os.system", "my.Config"});
}

TEST_CASE("of many tensors that a checkpoint cannot show, a hundred are named") {
    PickleWriter pickle;
    pickle.global("torch._utils", "_rebuild_sparse_tensor").raw(")R").put(0).raw("0").dict().mark();
    for (int i = 0; i < 103; ++i) pickle.text("s" + std::to_string(i)).get(0);
    write_tensor(pickle.text("w")).set_items();
    const Header header = header_of(archive(pickle.stop()));
    REQUIRE(header.notes.size() == 101);
    CHECK(header.notes.back() == "3 more tensors are left out");
}

TEST_CASE("of a checkpoint with bad tensors, the good ones can be had") {
    PickleWriter pickle;
    pickle.dict().mark();
    write_tensor(pickle.text("bad"), {{}, 1, {4}, {1}});
    write_tensor(pickle.text("lost"), {{"FloatStorage", "1", 4}, 0, {4}, {1}});
    write_tensor(pickle.text("good")).set_items();
    const std::string file = archive(pickle.stop());
    CHECK(kinds(problems_of([&] { header_of(file); })) == "MissingStorage StorageOutOfBounds ");
    const Header header = header_of(file, {.partial = true});
    CHECK(in_data_order(header) == Names{"good"});
    CHECK(kinds(header.problems) == "MissingStorage StorageOutOfBounds ");
    PickleWriter nothing;
    write_tensor(nothing, {{}, 1, {4}, {1}});
    CHECK(kinds(problems_of([&] { header_of(archive(nothing.stop()), {.partial = true}); })) == "StorageOutOfBounds ");
}

TEST_CASE("a checkpoint is told by its content") {
    const std::string pickle = three_tensors().stop();
    CHECK(is_content(archive(pickle)));
    CHECK(is_content(zip_archive({{"x/data/0", std::string(16, 's')}, {"x/data.pkl", pickle}})));
    CHECK(is_content(legacy_stream(pickle, {}, 1)));
    CHECK(is_content(legacy_stream(pickle, {}, 1, 4)));
    CHECK(is_content(PickleWriter().text("some other pickle").stop()));
    CHECK_FALSE(is_content(zip_archive({{"weight.npy", "x"}})));
    CHECK_FALSE(is_content(zip_archive({{"a/b/data.pkl", pickle}})));
    CHECK_FALSE(is_content(""));
    CHECK_FALSE(is_content("PK"));
    CHECK_FALSE(is_content("\x80"));
    // The lengths of safetensors headers of 640 bytes, and of 67,324,752.
    CHECK_FALSE(is_content(std::string("\x80\x02\0\0\0\0\0\0{}", 10)));
    CHECK_FALSE(is_content(std::string("PK\3\4\0\0\0\0{}", 10)));
    std::string tar(1024, '\0');
    tar.replace(257, 5, "ustar");
    CHECK_FALSE(is_content(tar));
    tar.replace(0, 8, "storages");
    CHECK(is_content(tar));
}
