#include "core/tensors/content.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>

#include "tests/support/contents.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

std::string made(std::string text) { return text; }

/// Two mapped files of known bytes.
struct Files {
    TemporaryFolder folder;
    std::string bytes[2] = {sample_bytes(10000, 1), sample_bytes(3000, 2)};
    std::vector<Shard> shards;

    Files() {
        for (int i = 0; i < 2; ++i) {
            const std::string path = folder / std::to_string(i);
            write_file(path, bytes[i]);
            shards.emplace_back(path).map();
        }
    }

    /// What gathering a range answers, one piece behind the other.
    [[nodiscard]] std::string gather(const Content& content, std::uint64_t offset, std::uint64_t nbytes) const {
        std::vector<Content::Piece> pieces;
        content.gather(offset, nbytes, shards, pieces);
        std::string all;
        for (const Content::Piece& piece : pieces) {
            std::string copy(piece.nbytes, '\0');
            REQUIRE(piece.copy_to(reinterpret_cast<std::byte*>(copy.data())));
            CHECK((piece.must_be_copied() || std::memcmp(copy.data(), piece.data, piece.nbytes) == 0));
            all += copy;
        }
        return all;
    }

    /// What a slice of a file's bytes is when it is widened.
    [[nodiscard]] std::string widened(const Slice& slice, Dtype dtype) const {
        return widened_bytes(dtype, bytes[slice.shard].substr(slice.offset, slice.nbytes));
    }
};

const std::vector<Dtype> narrow{Dtype::F4,      Dtype::F6_E2M3,     Dtype::F6_E3M2,     Dtype::F8_E5M2, Dtype::F8_E4M3,
                                Dtype::F8_E8M0, Dtype::F8_E4M3FNUZ, Dtype::F8_E5M2FNUZ, Dtype::F16,     Dtype::BF16};

/// Whether all pieces of a content can be had.
bool can_copy(const Content& content, const std::vector<Shard>& shards, std::uint64_t offset, std::uint64_t nbytes) {
    std::vector<Content::Piece> pieces;
    content.gather(offset, nbytes, shards, pieces);
    return std::all_of(pieces.begin(), pieces.end(), [](const Content::Piece& piece) {
        std::string bytes(piece.nbytes, '\0');
        return piece.copy_to(reinterpret_cast<std::byte*>(bytes.data()));
    });
}

}  // namespace

TEST_CASE("a content is its segments, one behind the other") {
    const Files files;
    Content content;
    content.add(made("head:")).add(Slice{0, 100, 50}).add(made("|")).add(Slice{1, 0, 7});
    const std::string whole = "head:" + files.bytes[0].substr(100, 50) + "|" + files.bytes[1].substr(0, 7);
    CHECK(content.size() == whole.size());
    CHECK(content.segments() == 4);
    CHECK(files.gather(content, 0, whole.size()) == whole);
}

TEST_CASE("every range of a content is what lies there") {
    const Files files;
    Content content;
    content.add(made("abc")).add(Slice{0, 5, 4}).add(Slice{1, 2999, 1}).add(made("de")).add(Slice{0, 0, 3});
    const std::string whole =
        "abc" + files.bytes[0].substr(5, 4) + files.bytes[1].substr(2999) + "de" + files.bytes[0].substr(0, 3);
    for (std::size_t offset = 0; offset <= whole.size(); ++offset) {
        for (std::size_t nbytes = 0; nbytes <= whole.size() + 2; ++nbytes) {
            REQUIRE(files.gather(content, offset, nbytes) == whole.substr(offset, nbytes));
        }
    }
}

TEST_CASE("a content made at random reads as its segments do") {
    const Files files;
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        Content content;
        std::string whole;
        for (std::size_t left = random() % 20; left > 0; --left) {
            if (random() % 3 == 0) {
                const std::string text = sample_bytes(random() % 50, random());
                content.add(made(text));
                whole += text;
            } else {
                const std::uint32_t shard = random() % 2;
                const std::size_t offset = random() % files.bytes[shard].size();
                const std::size_t nbytes =
                    random() % std::min<std::size_t>(500, files.bytes[shard].size() - offset + 1);
                content.add(Slice{shard, offset, nbytes});
                whole += files.bytes[shard].substr(offset, nbytes);
            }
        }
        REQUIRE(content.size() == whole.size());
        for (int range = 0; range < 30; ++range) {
            const std::size_t offset = random() % (whole.size() + 1);
            const std::size_t nbytes = random() % (whole.size() + 1);
            REQUIRE(files.gather(content, offset, nbytes) == whole.substr(offset, nbytes));
        }
    }
}

TEST_CASE("behind its end a content has nothing, however much is asked for") {
    const Files files;
    Content content;
    content.add(Slice{0, 10, 5});
    CHECK(files.gather(content, 5, 1).empty());
    CHECK(files.gather(content, 6, 100).empty());
    CHECK(files.gather(content, UINT64_MAX, UINT64_MAX).empty());
    CHECK(files.gather(content, 3, UINT64_MAX) == files.bytes[0].substr(13, 2));
    CHECK(files.gather(Content(), 0, 100).empty());
    CHECK(Content().size() == 0);
}

TEST_CASE("a slice that continues the one before it joins it") {
    const Files files;
    Content content;
    content.add(Slice{0, 0, 10}).add(Slice{0, 10, 20}).add(Slice{0, 30, 0}).add(Slice{0, 30, 1});
    CHECK(content.segments() == 1);
    CHECK(content.size() == 31);
    CHECK(files.gather(content, 0, 100) == files.bytes[0].substr(0, 31));
}

TEST_CASE("slices that only seem to be neighbours stay apart") {
    const Files files;
    Content gap;
    gap.add(Slice{0, 0, 10}).add(Slice{0, 11, 10});
    CHECK(gap.segments() == 2);
    Content other;
    other.add(Slice{0, 0, 10}).add(Slice{1, 10, 10});
    CHECK(other.segments() == 2);
    Content again;
    again.add(Slice{0, 0, 10}).add(Slice{0, 0, 10});
    CHECK(again.segments() == 2);
    Content between;
    between.add(Slice{0, 0, 10}).add(made("x")).add(Slice{0, 10, 10});
    CHECK(between.segments() == 3);
    CHECK(files.gather(again, 0, 20) == files.bytes[0].substr(0, 10) + files.bytes[0].substr(0, 10));
}

TEST_CASE("nothing added is nothing held") {
    Content content;
    content.add(made("")).add(Slice{0, 100, 0});
    CHECK(content.segments() == 0);
    CHECK(content.size() == 0);
}

TEST_CASE("a piece says which shard it is of, and where in it") {
    const Files files;
    Content content;
    content.add(made("abc")).add(Slice{1, 1000, 500});
    std::vector<Content::Piece> pieces;
    content.gather(1, 102, files.shards, pieces);
    REQUIRE(pieces.size() == 2);
    CHECK(pieces[0].shard == nullptr);
    CHECK(pieces[0].nbytes == 2);
    CHECK(pieces[1].shard == &files.shards[1]);
    CHECK(pieces[1].offset == 1000);
    CHECK(pieces[1].nbytes == 100);
    CHECK(pieces[1].data == files.shards[1].bytes().data() + 1000);
    content.gather(13, 5, files.shards, pieces);
    REQUIRE(pieces.size() == 3);  // those before are kept
    CHECK(pieces[2].offset == 1010);
}

TEST_CASE("a content of very many bytes counts them in 64 bits") {
    Content content;
    content.add(Slice{0, 0, std::uint64_t{1} << 62}).add(Slice{1, 0, std::uint64_t{1} << 62});
    CHECK(content.size() == std::uint64_t{1} << 63);
}

TEST_CASE("a widened slice reads as its float32s do, from every byte on") {
    const Files files;
    for (const Dtype dtype : narrow) {
        INFO(to_string(dtype));
        const Slice slice{0, 101, 42};
        Content content;
        content.add_widened(slice, dtype);
        const std::string whole = files.widened(slice, dtype);
        REQUIRE(content.size() == whole.size());
        REQUIRE(content.segments() == 1);
        for (std::size_t offset = 0; offset <= whole.size(); ++offset) {
            for (const std::size_t nbytes :
                 {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 15U, 16U, 17U, 31U, 33U, 64U, 100U, 1000U}) {
                REQUIRE(files.gather(content, offset, nbytes) == whole.substr(offset, nbytes));
            }
        }
    }
}

TEST_CASE("a widened slice of many elements reads as its float32s do") {
    const Files files;
    std::mt19937 random(3);
    for (const Dtype dtype : narrow) {
        INFO(to_string(dtype));
        const Slice slice{0, 1, 9996};  // whole groups of each type
        Content content;
        content.add_widened(slice, dtype);
        const std::string whole = files.widened(slice, dtype);
        REQUIRE(content.size() == whole.size());
        REQUIRE(files.gather(content, 0, UINT64_MAX) == whole);
        for (int round = 0; round < 100; ++round) {
            const std::size_t offset = random() % whole.size();
            const std::size_t nbytes = random() % whole.size();
            REQUIRE(files.gather(content, offset, nbytes) == whole.substr(offset, nbytes));
        }
        for (std::size_t offset = 16380; offset < 16390; ++offset) {
            REQUIRE(files.gather(content, offset, 16384) == whole.substr(offset, 16384));
            REQUIRE(files.gather(content, 16384 - 5, offset - 16370) == whole.substr(16384 - 5, offset - 16370));
        }
    }
}

TEST_CASE("a widened slice of nothing is nothing") {
    Content content;
    content.add_widened(Slice{0, 100, 0}, Dtype::F6_E2M3);
    CHECK(content.segments() == 0);
    CHECK(content.size() == 0);
}

TEST_CASE("a widened slice joins neither a slice nor another that is widened") {
    const Files files;
    Content content;
    content.add(Slice{0, 0, 10}).add_widened(Slice{0, 10, 10}, Dtype::BF16).add_widened(Slice{0, 20, 10}, Dtype::F16);
    content.add_widened(Slice{0, 30, 10}, Dtype::F16).add(Slice{0, 40, 10});
    CHECK(content.segments() == 5);
    CHECK(files.gather(content, 0, 1000) == files.bytes[0].substr(0, 10) + files.widened({0, 10, 10}, Dtype::BF16) +
                                                files.widened({0, 20, 20}, Dtype::F16) + files.bytes[0].substr(40, 10));
}

TEST_CASE("a piece of widened elements says which bytes of the shard it takes, and how many follow") {
    const Files files;
    Content content;
    content.add(made("head")).add_widened(Slice{1, 600, 30}, Dtype::F6_E3M2).add_widened(Slice{0, 7, 8}, Dtype::F16);
    std::vector<Content::Piece> pieces;
    content.gather(4 + 17, 16, files.shards, pieces);  // of float32s 4 to 8, so of the groups 1 and 2
    REQUIRE(pieces.size() == 1);
    CHECK(pieces[0].must_be_copied());
    CHECK(pieces[0].nbytes == 16);
    CHECK(pieces[0].shard == &files.shards[1]);
    CHECK(pieces[0].offset == 603);
    CHECK(pieces[0].shard_nbytes == 6);
    CHECK(pieces[0].rest == 21);
    CHECK(std::get<Content::Converted>(pieces[0].how).skip == 1);
    CHECK(std::get<Content::Converted>(pieces[0].how).dtype == Dtype::F6_E3M2);

    pieces.clear();
    content.gather(4 + 159, 2, files.shards, pieces);
    REQUIRE(pieces.size() == 2);
    CHECK(pieces[0].offset == 627);
    CHECK(pieces[0].shard_nbytes == 3);
    CHECK(pieces[0].rest == 0);
    CHECK(std::get<Content::Converted>(pieces[0].how).skip == 15);
    CHECK(pieces[1].shard == &files.shards[0]);
    CHECK(pieces[1].offset == 7);
    CHECK(pieces[1].shard_nbytes == 2);
    CHECK(pieces[1].rest == 6);
    CHECK(std::get<Content::Converted>(pieces[1].how).skip == 0);
}

TEST_CASE("a piece of a slice says how many bytes of the slice follow it") {
    const Files files;
    Content content;
    content.add(made("head")).add(Slice{1, 600, 30}).add(made("tail"));
    std::vector<Content::Piece> pieces;
    content.gather(0, 14, files.shards, pieces);
    REQUIRE(pieces.size() == 2);
    CHECK(pieces[0].rest == 0);
    CHECK(pieces[0].shard_nbytes == 0);
    CHECK(pieces[1].rest == 20);
    CHECK(pieces[1].shard_nbytes == 10);
    CHECK_FALSE(pieces[1].must_be_copied());
}

TEST_CASE("a content of all kinds, made at random, reads as its segments do") {
    const Files files;
    for (std::uint32_t seed = 0; seed < 400; ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        Content content;
        std::string whole;
        for (std::size_t left = random() % 12; left > 0; --left) {
            const std::uint32_t shard = random() % 2;
            const std::size_t offset = random() % files.bytes[shard].size();
            const std::size_t nbytes = random() % std::min<std::size_t>(900, files.bytes[shard].size() - offset + 1);
            switch (random() % 3) {
                case 0: {
                    const std::string text = sample_bytes(random() % 50, random());
                    content.add(made(text));
                    whole += text;
                    break;
                }
                case 1:
                    content.add(Slice{shard, offset, nbytes});
                    whole += files.bytes[shard].substr(offset, nbytes);
                    break;
                default: {
                    const Dtype dtype = narrow[random() % narrow.size()];
                    const Slice slice{shard, offset, nbytes / block_of(dtype).nbytes * block_of(dtype).nbytes};
                    content.add_widened(slice, dtype);
                    whole += files.widened(slice, dtype);
                    break;
                }
            }
        }
        REQUIRE(content.size() == whole.size());
        REQUIRE(files.gather(content, 0, whole.size()) == whole);
        for (int range = 0; range < 30; ++range) {
            const std::size_t offset = random() % (whole.size() + 2);
            const std::size_t nbytes = random() % (range % 2 == 0 ? whole.size() + 2 : 40);
            REQUIRE(files.gather(content, offset, nbytes) ==
                    (offset < whole.size() ? whole.substr(offset, nbytes) : ""));
        }
    }
}

TEST_CASE("pieces of a shard that was cut short are refused, and what lies before the cut is not") {
    for (const bool is_open : {true, false}) {
        INFO((is_open ? "open" : "mapped and closed"));
        const TemporaryFolder folder;
        const std::string bytes = sample_bytes(100000, 4);
        write_file(folder / "m", bytes);
        std::vector<Shard> shards;
        shards.emplace_back(folder / "m");
        if (is_open) {
            shards[0].map();
        } else {
            shards[0].map_and_close();
        }
        Content raw;
        raw.add(made("head")).add(Slice{0, 0, bytes.size()}).add(made("tail"));
        Content wide;
        wide.add(made("head")).add_widened(Slice{0, 0, bytes.size()}, Dtype::F16).add(made("tail"));
        CHECK(can_copy(raw, shards, 0, UINT64_MAX));
        CHECK(can_copy(wide, shards, 0, UINT64_MAX));

        constexpr std::uint64_t left = 65536;  // whole pages, whatever their size
        std::filesystem::resize_file(folder / "m", left);
        CHECK(bytes_of(raw, shards, 4, left) == bytes.substr(0, left));
        CHECK(bytes_of(wide, shards, 4, 2 * left) == widened_bytes(Dtype::F16, bytes.substr(0, left)));
        CHECK_FALSE(can_copy(raw, shards, 4 + left - 1, 2));
        CHECK_FALSE(can_copy(wide, shards, 4 + 2 * left - 1, 2));
        CHECK_FALSE(can_copy(raw, shards, 0, UINT64_MAX));
        CHECK_FALSE(can_copy(wide, shards, 0, UINT64_MAX));
        CHECK(bytes_of(raw, shards, 4 + bytes.size()) == "tail");
        CHECK(bytes_of(wide, shards, 4 + 2 * bytes.size()) == "tail");

        std::filesystem::resize_file(folder / "m", 0);
        CHECK_FALSE(can_copy(raw, shards, 4, 1));
        CHECK_FALSE(can_copy(wide, shards, 4, 1));
        CHECK(bytes_of(wide, shards, 0, 4) == "head");
    }
}
