#include "core/views/npy.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/contents.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

using Dims = std::vector<std::uint64_t>;

/// What a header says, by NumPy's description of the format.
struct Parsed {
    int version;
    std::uint64_t length;  // of what follows the length itself
    std::string text;      // the dict, without the padding
};

Parsed parse(const std::string& header) {
    REQUIRE(header.size() >= 12);
    REQUIRE(header.substr(0, 6) == "\x93NUMPY");
    const int version = header[6];
    REQUIRE((version == 1 || version == 2));
    REQUIRE(header[7] == 0);
    const std::size_t prefix = version == 1 ? 10 : 12;
    const std::uint64_t length = number_of(std::string_view(header).substr(8, prefix - 8));
    REQUIRE(prefix + length == header.size());
    REQUIRE(header.back() == '\n');
    const std::size_t end = header.find('}');
    REQUIRE(end != std::string::npos);
    REQUIRE(header.find_first_not_of(' ', end + 1) == header.size() - 1);
    return {version, length, header.substr(prefix, end + 1 - prefix)};
}

std::string shape_text(const Dims& dims) {
    std::string text;
    for (const std::uint64_t dim : dims) text += (text.empty() ? "" : ", ") + std::to_string(dim);
    return dims.size() == 1 ? text + ',' : text;
}

std::string dict_text(const std::string& type, const Dims& dims) {
    return "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape_text(dims) + "), }";
}

/// A shape whose dict has just so many characters: ones, but for the first dimension.
Dims dims_for(std::size_t length) {
    const std::size_t numbers = length - dict_text("<f4", {}).size();
    Dims dims((numbers + 2) / 3, 1);
    for (std::size_t extra = numbers - (3 * dims.size() - 2); extra > 0; --extra) dims[0] *= 10;
    return dims;
}

/// Of a page or more of float32s.
bool is_large(const Dims& dims) {
    double nbytes = 4;
    for (const std::uint64_t dim : dims) nbytes *= static_cast<double>(dim);
    return nbytes >= 4096;
}

void check(const Dims& dims) {
    const std::size_t alignment = is_large(dims) ? 4096 : 64;
    const std::string header = npy_header("<f4", dims);
    const Parsed parsed = parse(header);
    REQUIRE(parsed.text == dict_text("<f4", dims));
    REQUIRE(npy_header_size("<f4", dims) == header.size());
    REQUIRE(header.size() % alignment == 0);
    const std::size_t needed = (parsed.version == 1 ? 10 : 12) + parsed.text.size() + 1;
    REQUIRE(header.size() - needed < alignment);
    // Version 2 only where the length does not fit two bytes.
    const std::size_t first = (10 + parsed.text.size() + alignment) / alignment * alignment - 10;
    REQUIRE((parsed.version == 1) == (first <= 65535));
}

}  // namespace

TEST_CASE("an .npy header is magic, version, length, a dict, spaces and a newline") {
    const std::string begin = std::string("\x93NUMPY\x01\x00\xF6\x0F", 10);
    const std::string short_begin = std::string("\x93NUMPY\x01\x00\x76\x00", 10);
    const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    CHECK(npy_header("<f4", Dims{2, 3}) == short_begin + dict + std::string(128 - 10 - dict.size() - 1, ' ') + '\n');
    const std::string large = "{'descr': '<f4', 'fortran_order': False, 'shape': (32, 32), }";
    CHECK(npy_header("<f4", Dims{32, 32}) == begin + large + std::string(4096 - 10 - large.size() - 1, ' ') + '\n');
}

TEST_CASE("a shape stands in an .npy header as a Python tuple") {
    const auto text = [](const Dims& dims, const std::string& type = "<i8") {
        return parse(npy_header(type, dims)).text;
    };
    CHECK(text({}) == "{'descr': '<i8', 'fortran_order': False, 'shape': (), }");
    CHECK(text({7}) == "{'descr': '<i8', 'fortran_order': False, 'shape': (7,), }");
    CHECK(text({0}) == "{'descr': '<i8', 'fortran_order': False, 'shape': (0,), }");
    CHECK(text({0, 5}) == "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 5), }");
    CHECK(text({4, 0, 2}, "|b1") == "{'descr': '|b1', 'fortran_order': False, 'shape': (4, 0, 2), }");
    CHECK(text({18446744073709551615U, 0}) ==
          "{'descr': '<i8', 'fortran_order': False, 'shape': (18446744073709551615, 0), }");
}

TEST_CASE("as many dimensions as NumPy reads fit its limits, at their widest") {
    const Dims widest(64, 18446744073709551615U);
    check(widest);
    check(Dims(64, 1));
    const Parsed parsed = parse(npy_header("<f4", widest));
    CHECK(parsed.version == 1);
    CHECK(parsed.length <= 10000);
}

TEST_CASE("a shape whose text does not fit version 1.0 is written by version 2.0") {
    const Dims many(30000, 1);
    check(many);
    const std::string header = npy_header("<f4", many);
    CHECK(parse(header).version == 2);
    CHECK(header.substr(6, 2) == std::string("\x02\x00", 2));
    check(Dims(10000, 12345));
    CHECK(parse(npy_header("<f4", Dims(10000, 12345))).version == 2);
}

TEST_CASE("an .npy header is the smallest multiple of 4096 or 64 bytes that has room, and as long as is told",
          "[thorough]") {
    for (std::size_t rank = 0; rank < 100; ++rank) check(Dims(rank, rank));
    for (const std::size_t pages : {1U, 2U, 15U, 16U, 17U}) {
        for (std::size_t length = pages * 4096 - 16; length <= pages * 4096 + 3; ++length) {
            INFO(length << " characters");
            const Dims dims = dims_for(length);
            REQUIRE(dict_text("<f4", dims).size() == length);
            check(dims);
        }
    }
}

TEST_CASE("the longest dict of version 1.0 is that with which the header is sixteen pages") {
    constexpr std::size_t longest = 16 * 4096 - 10 - 1;
    CHECK(parse(npy_header("<f4", dims_for(longest))).version == 1);
    CHECK(npy_header_size("<f4", dims_for(longest)) == 16 * 4096);
    CHECK(parse(npy_header("<f4", dims_for(longest + 1))).version == 2);
    CHECK(npy_header_size("<f4", dims_for(longest + 1)) == 16 * 4096 + 64);
}
