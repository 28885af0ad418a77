#include "core/formats/gguf/gguf.hpp"

#include "core/formats/formats.hpp"
#include "core/views/listings.hpp"
#include "tests/core/formats/gguf/gguf_file.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

constexpr std::uint64_t claimed = std::uint64_t{1} << 62;

/// A file in a folder of its own.
class OneFile {
public:
    explicit OneFile(std::string_view bytes, const std::string& name = "m.gguf") : path_(folder_ / name) {
        write_file(path_, bytes);
    }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] Header read(const HeaderOptions& options = {}) const {
        return gguf::read_header(Shard(path_), options);
    }
    [[nodiscard]] std::vector<Problem> problems() const {
        return problems_of([&] { static_cast<void>(read()); });
    }

private:
    TemporaryFolder folder_;
    std::string path_;
};

std::vector<std::string> names_of(const Header& header) {
    std::vector<std::string> names;
    for (const Tensor& tensor : header.tensors) names.emplace_back(tensor.name());
    return names;
}

using Names = std::vector<std::string>;

const std::string thirty_two(32, 'x');
const std::string sixty_four(64, 'x');

}  // namespace

TEST_CASE("a GGUF file is told by its first bytes, whatever it is called") {
    const std::string bytes = GgufFile().tensor("a", {4}, gguf_tensor_i8, 0).bytes("abcd");
    for (const std::string name : {"m.gguf", "sha256-0123", "m.bin", "m.safetensors.part"})
        CHECK(format_of(Shard(OneFile(bytes, name).path())).name == "gguf");
    CHECK(format_of(Shard(OneFile(bytes, "m.safetensors").path())).name == "safetensors");
    CHECK(format_of(Shard(OneFile("GGU", "m").path())).name == "safetensors");
    CHECK(format_of(Shard(OneFile("GGU", "m.gguf").path())).name == "gguf");
}

TEST_CASE("a shape is row-major: GGUF's dims reversed") {
    const OneFile file(GgufFile().tensor("a.b", {4, 3, 2}, gguf_tensor_i8, 0).bytes(std::string(24, 'x')));
    const Header header = file.read({"unet/"});
    REQUIRE(header.tensors.size() == 1);
    CHECK(to_string(header.tensors[0].shape()) == "[2,3,4]");
    CHECK(header.tensors[0].name() == "a.b");
    CHECK(header.tensors[0].full_name() == "unet/a.b");
    CHECK(header.tensors[0].offset() % 32 == 0);
}

TEST_CASE("messages of GGUF's rules say what is wrong, and where") {
    const auto text_of = [](const std::string& bytes) {
        const auto problems = OneFile(bytes).problems();
        return problems.empty() ? "" : std::string(to_string(problems[0].kind)) + ": " + problems[0].text;
    };
    CHECK(text_of("") == "HeaderTooSmall: the file is empty");
    CHECK(contains(text_of("GGUF\x03"), "HeaderTooSmall: the file has 5 bytes, fewer than the 24"));
    CHECK(contains(text_of("\x1F\x8B" + std::string(30, 'x')), "InvalidHeader: this seems to be a gzip file"));
    CHECK(contains(text_of(std::string("GGUF\0\0\0\x03", 8) + std::string(16, '\0')), "BigEndian: it is a big-endian"));
    CHECK(contains(text_of("GGUF" + little_endian(1, 4) + std::string(16, '\0')),
                   "UnsupportedVersion: it is of version 1"));
    CHECK(
        contains(text_of("GGUF" + little_endian(9, 4) + std::string(16, '\0')), "version 9 of GGUF; 2 and 3 are read"));
    CHECK(contains(text_of(GgufFile().key("general.alignment", gguf_u32, little_endian(24, 4)).header()),
                   "InvalidHeader: general.alignment is 24, not a power of two"));
    CHECK(contains(text_of(GgufFile().key("split.count", gguf_u32, little_endian(1, 4)).header()),
                   "InvalidHeader: split.count is of type u32, not u16"));
    CHECK(contains(text_of(GgufFile().tensor("t", {16, 2}, gguf_tensor_q4_0, 0).bytes(thirty_two)),
                   "MisalignedSlice: a row of 16 elements is not whole blocks of 32, as Q4_0 has them"));
    CHECK(contains(text_of(GgufFile().tensor("t", {32}, 31, 0).bytes(thirty_two)),
                   "UnsupportedDtype: its type, 31, was Q4_0_4_4, which was removed"));
    CHECK(contains(text_of(GgufFile().tensor("t", {32}, gguf_tensor_i8, 32).bytes(thirty_two)),
                   "MetadataIncompleteBuffer: it ends at byte 64 of the data, of which the file has 32"));
    CHECK(contains(
        text_of(GgufFile().tensor("t", {33}, gguf_tensor_i8, 0).tensor("u", {1}, gguf_tensor_i8, 32).bytes(sixty_four)),
        "InvalidOffset: it begins at byte 32 of the data, within \"t\", which ends at 33"));
}

TEST_CASE("with partial, a bad tensor of a GGUF file is left out alone") {
    HeaderOptions options;
    options.partial = true;
    GgufFile file;
    file.tensor("good", {32}, gguf_tensor_i8, 0);
    SECTION("a type that is not known") { file.tensor("bad", {32}, 999, 32); }
    SECTION("a name that is not UTF-8") { file.tensor("bad\xFF", {32}, gguf_tensor_i8, 32); }
    SECTION("a row that is not whole blocks") { file.tensor("bad", {31}, gguf_tensor_q8_0, 32); }
    SECTION("a product that does not fit") { file.tensor("bad", {claimed, claimed}, gguf_tensor_i8, 32); }
    SECTION("an offset between multiples of the alignment") { file.tensor("bad", {1}, gguf_tensor_i8, 33); }
    SECTION("data that the file does not have") { file.tensor("bad", {32}, gguf_tensor_i8, 96); }
    SECTION("data that overlaps another's") { file.tensor("z bad", {32}, gguf_tensor_i8, 0); }
    SECTION("a name that stands twice") { file.tensor("good", {32}, gguf_tensor_i8, 32); }
    file.tensor("also good", {32}, gguf_tensor_i8, 64);
    const OneFile one(file.bytes(sixty_four + thirty_two));
    CHECK(one.problems().size() == 1);
    const Header header = one.read(options);
    CHECK(names_of(header) == Names{"good", "also good"});
    CHECK(header.by_name == std::vector<std::uint32_t>{1, 0});
    CHECK(header.problems.size() == 1);
    CHECK(header.tensors[1].offset() == header.tensors[0].offset() + 64);
}

TEST_CASE("with partial, a GGUF file whose infos cannot be followed is refused all the same") {
    HeaderOptions options;
    options.partial = true;
    const OneFile nine_dims(GgufFile().tensor("t", {1, 1, 1, 1, 1, 1, 1, 1, 1}, gguf_tensor_i8, 0).bytes(thirty_two));
    CHECK(kinds(problems_of([&] { static_cast<void>(nine_dims.read(options)); })) == "TensorInvalidInfo ");
    const OneFile cut(GgufFile().tensor("t", {1}, gguf_tensor_i8, 0).header().substr(0, 50));
    CHECK(kinds(problems_of([&] { static_cast<void>(cut.read(options)); })) == "InvalidHeaderLength ");
}

TEST_CASE("one note tells what llama.cpp would not load, and of how many tensors") {
    const OneFile file(GgufFile()
                           .tensor(std::string(64, 'n'), {1}, gguf_tensor_i8, 0)
                           .tensor(std::string(65, 'n'), {1, 1, 1, 1, 1}, gguf_tensor_i8, 64)
                           .bytes(sixty_four + "x"));
    CHECK(file.read().notes ==
          Names{"llama.cpp would not load it: 2 tensors' names have 64 bytes or more, 1 tensor has "
                "more than 4 dims, 1 tensor does not begin where the one before it ends"});
}

TEST_CASE("a GGUF file's metadata are typed, and arrays and long texts are not kept") {
    const std::string long_text(longest_kept_text + 1, 't');
    const OneFile file(GgufFile()
                           .key("yes", gguf_bool, "\x02")
                           .key("most", gguf_u64, std::string(8, '\xFF'))
                           .key("least", gguf_i32, little_endian(0x80000000, 4))
                           .key("tenth", gguf_f32, little_endian(0x3DCCCCCD, 4))
                           .key("text", gguf_str, gguf_string("a\xFF"))
                           .key("long", gguf_str, gguf_string(long_text))
                           .key("array", gguf_arr, gguf_array(gguf_u8, 3, "\x01\x02\x03"))
                           .header());
    const Metadata kept = file.read().metadata;
    CHECK(kept == Metadata{{"yes", true},
                           {"most", UINT64_MAX},
                           {"least", std::int64_t{INT32_MIN}},
                           {"tenth", 0.1F},
                           {"text", std::string("a\xFF")},
                           {"long", NotKept{}},
                           {"array", NotKept{.is_array = true}}});
    CHECK(has_all(kept, Keep::short_values));
    CHECK_FALSE(has_all(kept, Keep::texts));
    const Metadata texts = gguf::read_metadata(Shard(file.path()), Keep::texts);
    CHECK(texts[5].second == MetadataValue(long_text));
    CHECK(texts[6].second == MetadataValue(NotKept{.is_array = true}));
    CHECK(has_all(texts, Keep::texts));
    CHECK_FALSE(has_all(texts, Keep::all));
    const Metadata all = gguf::read_metadata(Shard(file.path()), Keep::all);
    CHECK(has_all(all, Keep::all));
    CHECK(all[5].second == MetadataValue(long_text));
    CHECK(all[6].second == MetadataValue(JsonArray{"[1,2,3]"}));
}

TEST_CASE("GGUF's arrays are JSON in ASCII: floats as short as tells them apart, texts escaped") {
    const std::string strings = gguf_string("") + gguf_string("\"\\") + gguf_string("\xC3\xA9") +
                                gguf_string(
                                    "\xE2\x96\x81"
                                    "a\xFF") +
                                gguf_string(std::string(1, '\0'));
    const std::string floats =
        little_endian(0x3DCCCCCD, 4) + little_endian(0x7FC00000, 4) + little_endian(0xFF800000, 4);
    const std::string nested = gguf_array(gguf_bool, 2, std::string("\x01\x00", 2)) + gguf_array(gguf_str, 0, "");
    const OneFile file(GgufFile()
                           .key("strings", gguf_arr, gguf_array(gguf_str, 5, strings))
                           .key("floats", gguf_arr, gguf_array(gguf_f32, 3, floats))
                           .key("nested", gguf_arr, gguf_array(gguf_arr, 2, nested))
                           .header());
    CHECK(metadata_json(load(file.path())) == R"({
  "m.gguf": {
    "strings": ["","\"\\","\u00e9","\u2581a\ufffd","\u0000"],
    "floats": [0.1,"NaN","-Infinity"],
    "nested": [[true,false],[]]
  }
}
)");
}

TEST_CASE("strings that lie across the pieces in which a GGUF file is read are read whole") {
    // More than two pieces, with strings that begin and end anywhere in them, and one larger than a piece.
    std::string strings;
    std::string json = "[";
    constexpr std::uint64_t count = 60'000;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::string text = i == 30'000 ? std::string(600'000, 'x') : std::to_string(i * 7919);
        strings += gguf_string(text);
        json += (i == 0 ? "\"" : ",\"") + text + '"';
    }
    const OneFile file(GgufFile()
                           .key("tokens", gguf_arr, gguf_array(gguf_str, count, strings))
                           .key("after", gguf_str, gguf_string("here"))
                           .tensor("t", {1}, gguf_tensor_i8, 0)
                           .bytes("x"));
    const Header header = file.read();
    CHECK(header.metadata == Metadata{{"tokens", NotKept{.is_array = true}}, {"after", std::string("here")}});
    CHECK(header.tensors.size() == 1);
    const Metadata all = gguf::read_metadata(Shard(file.path()), Keep::all);
    CHECK(std::get<JsonArray>(all[0].second).text == json + ']');
}
