#include "core/formats/safetensors/safetensors.hpp"

#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

/// What is wrong with a file of these bytes: kind, a space, and the tensor that is named. "" if
/// nothing is.
std::string verdict(std::string_view file) {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", file);
    const auto problems = problems_of([&] { safetensors::read_header(Shard(folder / "m.safetensors")); });
    if (problems.empty()) return {};
    CHECK(problems.size() == 1);
    CHECK(problems[0].path == folder / "m.safetensors");
    CHECK_FALSE(problems[0].text.empty());
    return std::string(to_string(problems[0].kind)) + ' ' + problems[0].tensor;
}

std::string verdict(std::string_view header, std::size_t data_size) {
    return verdict(safetensors_file(header, std::string(data_size, 'x')));
}

/// A header's length as the file's first eight bytes.
std::string length(std::uint64_t value) {
    std::string bytes;
    for (int i = 0; i < 8; ++i, value >>= 8) bytes += static_cast<char>(value & 0xFF);
    return bytes;
}

}  // namespace

TEST_CASE("tensors come in data order, with offsets from the file's start") {
    const TemporaryFolder folder;
    const std::string header = R"({"b":{"dtype":"F16","shape":[2,3],"data_offsets":[4,16]},"__metadata__":{"k":"v"},)"
                               R"("a":{"data_offsets":[0,4],"shape":[],"dtype":"F32","more":[{}]}})";
    write_file(folder / "m.safetensors", safetensors_file(header, std::string(16, 'x')));
    const Header read = safetensors::read_header(Shard(folder / "m.safetensors"));
    REQUIRE(read.tensors.size() == 2);
    const Tensor& a = read.tensors[0];
    const Tensor& b = read.tensors[1];
    CHECK(a.name() == "a");
    CHECK(a.dtype() == Dtype::F32);
    CHECK(a.shape().empty());
    CHECK(a.elements() == 1);
    CHECK(a.offset() == 8 + header.size());
    CHECK(a.nbytes() == 4);
    CHECK(b.name() == "b");
    CHECK(b.dtype() == Dtype::F16);
    CHECK(std::vector<std::uint64_t>(b.shape().begin(), b.shape().end()) == std::vector<std::uint64_t>{2, 3});
    CHECK(b.elements() == 6);
    CHECK(b.offset() == 8 + header.size() + 4);
    CHECK(b.nbytes() == 12);
    CHECK(read.metadata == Metadata{{"k", "v"}});
}

TEST_CASE("a file without tensors is a good file") {
    CHECK(verdict("{}", 0).empty());
    CHECK(verdict("  {\n}\t ", 0).empty());
    CHECK(verdict(R"({"__metadata__":{}})", 0).empty());
}

TEST_CASE("elements narrower than a byte are counted in bits") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors",
               safetensors_file({{"four", "F4", {3, 2}, "abc"}, {"six", "F6_E2M3", {4}, "def"}}));
    const Header read = safetensors::read_header(Shard(folder / "m.safetensors"));
    REQUIRE(read.tensors.size() == 2);
    CHECK(read.tensors[0].elements() == 6);
    CHECK(read.tensors[1].elements() == 4);
}

TEST_CASE("rule 1: a file shorter than the header length is refused") {
    for (std::size_t size = 0; size < 8; ++size) CHECK(verdict(std::string(size, '\0')) == "HeaderTooSmall ");
}

TEST_CASE("rule 2: a header over 100,000,000 bytes is refused, whatever the file's size") {
    CHECK(verdict(length(100000001) + "{}") == "HeaderTooLarge ");
    CHECK(verdict(length(UINT64_MAX) + "{}") == "HeaderTooLarge ");
    CHECK(verdict(length(std::uint64_t{1} << 63)) == "HeaderTooLarge ");
    CHECK(verdict(length(UINT64_MAX - 7)) == "HeaderTooLarge ");
}

TEST_CASE("rule 3: a header longer than the file is refused") {
    CHECK(verdict(length(3) + "{}") == "InvalidHeaderLength ");
    CHECK(verdict(length(100000000) + "{}") == "InvalidHeaderLength ");
    CHECK(verdict(length(1)) == "InvalidHeaderLength ");
    // Zero bytes fit, but are no JSON.
    CHECK(verdict(length(0)) == "InvalidHeaderDeserialization ");
}

TEST_CASE("rule 4: a header that is not UTF-8 is refused, wherever the bad byte stands") {
    CHECK(verdict("{\"\xFF\":1}", 0) == "InvalidHeader ");
    CHECK(verdict("{} \xC3", 0) == "InvalidHeader ");
    CHECK(verdict("{\"a\":\"\xED\xA0\x80\"}", 0) == "InvalidHeader ");
    CHECK(verdict("\xFE\xFF", 0) == "InvalidHeader ");
}

TEST_CASE("rule 6: a tensor that does not begin where the one before it ends is refused by name") {
    // A hole at the front, a hole between, an overlap, an end before the beginning.
    CHECK(verdict(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2) == "InvalidOffset a");
    CHECK(verdict(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                  R"("b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
                  3) == "InvalidOffset b");
    CHECK(verdict(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                  R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                  3) == "InvalidOffset b");
    CHECK(verdict(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                  R"("b":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})",
                  1) == "InvalidOffset b");
    CHECK(verdict(R"({"x\u001b":{"dtype":"U8","shape":[0],"data_offsets":[18446744073709551615,0]}})", 0) ==
          "InvalidOffset x\x1B");
}

TEST_CASE("rule 7: a shape whose size does not fit 64 bits is refused by name") {
    CHECK(verdict(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,1]}})", 1) ==
          "ValidationOverflow a");
    CHECK(verdict(R"({"a":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,1]}})", 1) ==
          "ValidationOverflow a");
    // The bits have to fit, not only the bytes; and the product is taken from the left.
    CHECK(verdict(R"({"a":{"dtype":"U8","shape":[2305843009213693952],"data_offsets":[0,1]}})", 1) ==
          "ValidationOverflow a");
    CHECK(verdict(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296,0],"data_offsets":[0,0]}})", 0) ==
          "ValidationOverflow a");
    CHECK(verdict(R"({"a":{"dtype":"U8","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})", 0).empty());
}

TEST_CASE("rule 7: sub-byte elements that do not fill whole bytes are refused by name") {
    CHECK(verdict(R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", 2) == "MisalignedSlice a");
    CHECK(verdict(R"({"a":{"dtype":"F6_E3M2","shape":[2],"data_offsets":[0,2]}})", 2) == "MisalignedSlice a");
    CHECK(verdict(R"({"a":{"dtype":"F6_E3M2","shape":[4],"data_offsets":[0,3]}})", 3).empty());
}

TEST_CASE("rule 7: a shape that needs another number of bytes is refused by name") {
    CHECK(verdict(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,7]}})", 7) == "TensorInvalidInfo a");
    CHECK(verdict(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,4]}})", 4) == "TensorInvalidInfo a");
    CHECK(verdict(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,0]}})", 0) == "TensorInvalidInfo a");
    // Rules 6 and 7 are tried tensor by tensor.
    CHECK(verdict(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,7]},)"
                  R"("b":{"dtype":"U8","shape":[1],"data_offsets":[9,10]}})",
                  10) == "TensorInvalidInfo a");
}

TEST_CASE("rule 8: tensors that end before or after the file does are refused") {
    const std::string header = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})";
    CHECK(verdict(header, 4).empty());
    CHECK(verdict(header, 3) == "MetadataIncompleteBuffer ");
    CHECK(verdict(header, 5) == "MetadataIncompleteBuffer ");
    CHECK(verdict("{}", 1) == "MetadataIncompleteBuffer ");
}

TEST_CASE("rule 9: a name that stands twice is refused by name, however it is written") {
    CHECK(verdict(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                  R"("\u0061":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                  1) == "DuplicateName a");
    // As the reference has it, the last one counts for the rules before.
    CHECK(verdict(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                  R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                  2) == "InvalidOffset a");
}
