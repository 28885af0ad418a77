#include "core/content.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "tests/expect.hpp"
#include "tests/support.hpp"

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
            CHECK((piece.is_widened() || std::memcmp(copy.data(), piece.data, piece.nbytes) == 0));
            all += copy;
        }
        return all;
    }
};

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
