// Contents whose elements are converted to another type than F32; to that: content_test.cpp.

#include <cstring>

#include "core/tensors/content.hpp"
#include "core/tensors/convert.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contents.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

TEST_CASE("a converted slice is read in any ranges, and its overflows are counted") {
    const TemporaryFolder folder;
    std::vector<double> numbers(10'000, 1.5);
    numbers[3] = numbers[5000] = numbers[9999] = 1e10;
    std::string bytes(numbers.size() * sizeof(double), '\0');
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    write_file(folder / "shard", "head" + bytes);
    std::vector<Shard> shards;
    shards.emplace_back(folder / "shard");

    Content content;
    content.add(std::string("made")).add_converted(Slice{0, 4, bytes.size()}, Dtype::F64, Dtype::F16);
    REQUIRE(content.size() == 4 + numbers.size() * 2);
    std::string halves(numbers.size() * 2, '\0');
    std::vector<std::uint16_t> wanted(numbers.size());
    convert(Dtype::F64, reinterpret_cast<const std::byte*>(numbers.data()), numbers.size(), Dtype::F16,
            reinterpret_cast<std::byte*>(wanted.data()));
    std::memcpy(halves.data(), wanted.data(), halves.size());
    CHECK(bytes_of(content, shards) == "made" + halves);
    for (std::uint64_t begin = 4; begin < 40; ++begin) {
        CHECK(bytes_of(content, shards, begin, 1) == halves.substr(begin - 4, 1));
        CHECK(bytes_of(content, shards, begin, 8200) == halves.substr(begin - 4, 8200));
    }

    std::vector<Content::Piece> pieces;
    content.gather(4, halves.size(), shards, pieces);
    REQUIRE(pieces.size() == 1);
    CHECK(pieces[0].offset == 4);
    CHECK(pieces[0].shard_nbytes == bytes.size());
    std::uint64_t overflows = 0;
    REQUIRE(pieces[0].copy_to(reinterpret_cast<std::byte*>(halves.data()), nullptr, {}, &overflows));
    CHECK(overflows == 3);
}
