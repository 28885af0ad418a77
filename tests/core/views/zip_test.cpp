#include "core/views/zip_writer.hpp"

#include <deque>
#include <filesystem>

#include "tests/core/views/zip_reader.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

std::string u16(std::uint64_t value) { return little_endian(value, 2); }
std::string u32(std::uint64_t value) { return little_endian(value, 4); }

/// A mapped file: of these bytes, or of so many zeros that take no room on the disk.
struct File {
    TemporaryFolder folder;
    std::vector<Shard> shards;

    explicit File(std::string_view bytes, std::uint64_t size = 0) {
        write_file(folder / "m", bytes);
        if (size > 0) std::filesystem::resize_file(folder / "m", size);
        shards.emplace_back(folder / "m").map();
    }
};

/// Bytes of the file, as a tensor.
FileTensor slice(std::uint64_t offset, std::uint64_t nbytes) {
    static std::deque<Tensor> all;
    return {&all.emplace_back("", std::uint16_t{0}, Dtype::U8, Shape(), offset, nbytes), Dtype::U8};
}

constexpr std::uint64_t four_gib = std::uint64_t{1} << 32;

}  // namespace

TEST_CASE("an archive of one made file is a local header, the file, the directory and its end, byte by byte") {
    const std::string crc = u32(0xCBF43926);  // the check value that CRC-32's catalogues name
    const std::string common = u16(20) + u16(0) + u16(0) + u16(0) + u16(0x21) + crc + u32(9) + u32(9) + u16(3);
    const std::string local = "PK\3\4" + common + u16(31) + "a/b" + "FB" + u16(27) + std::string(27, 'Z');
    REQUIRE(local.size() == 64);
    const std::string central =
        "PK\1\2" + u16(45) + common + u16(0) + u16(0) + u16(0) + u16(0) + u32(0) + u32(0) + "a/b";
    const std::string end = "PK\5\6" + u16(0) + u16(0) + u16(1) + u16(1) + u32(central.size()) + u32(64 + 9) + u16(0);

    ZipWriter zip;
    zip.add("a/b", std::string("123456789"));
    CHECK(bytes_of(zip.finish().content, {}) == local + "123456789" + central + end);
}

TEST_CASE("an archive of no files is the end record alone") {
    CHECK(bytes_of(ZipWriter().finish().content, {}) == "PK\5\6" + std::string(18, '\0'));
}

TEST_CASE("an archive holds made files and slices, in order, each at a multiple of 64") {
    const std::string bytes = sample_bytes(5000, 1);
    const File file(bytes);
    ZipWriter zip;
    zip.add("made", std::string("text"));
    zip.add("slice", "", slice(1000, 333));
    zip.add("empty", "", slice(4000, 0));
    zip.add("nothing", std::string());
    zip.add("last", "", slice(1333, 3667));
    const Content content = zip.finish().content;
    const ZipReader reader(content, file.shards);
    REQUIRE(reader.files().size() == 5);
    CHECK_FALSE(reader.is_zip64());
    CHECK(reader.bytes(reader.file("made")) == "text");
    CHECK(reader.bytes(reader.file("slice")) == bytes.substr(1000, 333));
    CHECK(reader.bytes(reader.file("empty")).empty());
    CHECK(reader.bytes(reader.file("nothing")).empty());
    CHECK(reader.bytes(reader.file("last")) == bytes.substr(1333));
}

TEST_CASE("made files have their checksum, and slices have 0, or the one that is given") {
    const File file("some bytes");
    ZipWriter zip;
    zip.add("made", std::string("text"));
    zip.add("nothing", std::string());
    zip.add("slice", "", slice(0, 10));
    zip.add("known", "", slice(0, 10), zip_checksum("some bytes"));
    const Content content = zip.finish().content;
    const ZipReader reader(content, file.shards);
    CHECK(reader.file("known").checksum == ZipReader::crc("some bytes"));
    CHECK(reader.file("made").checksum == ZipReader::crc("text"));
    CHECK(reader.file("nothing").checksum == 0);
    CHECK(reader.file("slice").checksum == 0);
}

TEST_CASE("a file's bytes begin at a multiple of 64, whatever the lengths of names and files") {
    ZipWriter zip;
    for (std::size_t i = 0; i < 130; ++i) zip.add(std::string(i + 1, 'n'), std::string(i * 7 % 130, 'x'));
    const Content content = zip.finish().content;
    const ZipReader reader(content, {});
    REQUIRE(reader.files().size() == 130);
    for (std::size_t i = 0; i < 130; ++i) {
        CHECK(reader.files()[i].name.size() == i + 1);
        CHECK(reader.bytes(reader.files()[i]) == std::string(i * 7 % 130, 'x'));
    }
}

TEST_CASE("files of 4 GiB and more stand in an archive by ZIP64, and those one byte below do not") {
    const File file("", four_gib + 1000);
    for (const std::uint64_t nbytes : {four_gib - 2, four_gib - 1, four_gib, four_gib + 1000}) {
        INFO(nbytes << " bytes");
        ZipWriter zip;
        zip.add("large", "", slice(file.shards[0].size() - nbytes, nbytes));
        const Content content = zip.finish().content;
        const ZipReader reader(content, file.shards);
        REQUIRE(reader.files().size() == 1);
        CHECK(reader.files()[0].nbytes == nbytes);
        CHECK(reader.files()[0].is_zip64 == (nbytes >= four_gib - 1));
        CHECK(reader.is_zip64());  // since the directory begins beyond 4 GiB in any case
        CHECK(content.segments() == 3);
    }
}

TEST_CASE("files whose place is beyond 4 GiB stand in an archive by ZIP64") {
    const File file("begin", four_gib);
    ZipWriter zip;
    zip.add("before", "", slice(0, four_gib - 1000));
    zip.add("small", std::string("text"));
    zip.add("across", "", slice(0, 2000));
    zip.add("behind", std::string("more text"));
    zip.add("behind, too", "", slice(0, 5));
    zip.add("large behind", "", slice(0, four_gib));
    zip.add("far behind", "", slice(0, 5));
    const Content content = zip.finish().content;
    const ZipReader reader(content, file.shards);
    REQUIRE(reader.files().size() == 7);
    CHECK(reader.is_zip64());
    for (const ZipReader::File& each : reader.files()) {
        INFO(each.name);
        CHECK(each.is_zip64 == (each.header >= four_gib - 1 || each.nbytes >= four_gib - 1));
    }
    CHECK(reader.file("small").header < four_gib);
    CHECK(reader.file("behind").header > four_gib);
    CHECK(reader.bytes(reader.file("behind")) == "more text");
    CHECK(reader.bytes(reader.file("behind, too")) == "begin");
    CHECK(reader.file("large behind").nbytes == four_gib);
    CHECK(reader.file("far behind").header >= 2 * four_gib);
    CHECK(reader.bytes(reader.file("far behind")) == "begin");
}

TEST_CASE("a directory that begins just below 4 GiB needs no ZIP64, and just there it does") {
    const File file("", four_gib);
    for (const std::uint64_t begin : {four_gib - 2, four_gib - 1}) {
        ZipWriter zip;
        zip.add("large", "", slice(0, begin - 64));
        const Content content = zip.finish().content;
        const ZipReader reader(content, file.shards);
        CHECK(reader.files().at(0).begin == 64);
        CHECK(reader.is_zip64() == (begin == four_gib - 1));
        CHECK_FALSE(reader.files()[0].is_zip64);
    }
}

TEST_CASE("65,535 files and more are counted by ZIP64", "[thorough]") {
    for (const std::size_t count : {65534U, 65535U, 65536U, 70000U}) {
        INFO(count << " files");
        ZipWriter zip;
        for (std::size_t i = 0; i < count; ++i) zip.add(std::to_string(i), std::string(i % 3, 'x'));
        const Content content = zip.finish().content;
        CHECK(content.segments() == 1);
        const ZipReader reader(content, {});
        REQUIRE(reader.files().size() == count);
        CHECK(reader.is_zip64() == (count >= 65535));
        CHECK(reader.files().back().name == std::to_string(count - 1));
        CHECK_FALSE(reader.files().back().is_zip64);
    }
}

TEST_CASE("names that are not ASCII are marked as UTF-8") {
    ZipWriter zip;
    zip.add("é", std::string("x"));
    zip.add("e", std::string("x"));
    const std::string bytes = bytes_of(zip.finish().content, {});
    CHECK(bytes.substr(6, 2) == u16(1 << 11));
    const std::size_t directory = bytes.find("PK\1\2");
    CHECK(bytes.substr(directory + 8, 2) == u16(1 << 11));
    CHECK(bytes.substr(bytes.find("PK\1\2", directory + 1) + 8, 2) == u16(0));
}

TEST_CASE("the checksum of a file with a made head and a tensor is that of both") {
    const std::string bytes = sample_bytes(5000, 1);
    const File file(bytes);
    ZipWriter zip;
    zip.add("both", "head", slice(100, 1000), zip_checksum(bytes.substr(100, 1000)));
    zip.add("empty", "head", slice(0, 0));
    zip.add("unknown", "head", slice(0, 10));
    const Content content = zip.finish().content;
    const ZipReader reader(content, file.shards);
    CHECK(reader.file("both").checksum == ZipReader::crc("head" + bytes.substr(100, 1000)));
    CHECK(reader.bytes(reader.file("both")) == "head" + bytes.substr(100, 1000));
    CHECK(reader.file("empty").checksum == ZipReader::crc("head"));
    CHECK(reader.file("unknown").checksum == 0);
}

TEST_CASE("names that lead out of an archive's folder, or that a terminal obeys, are no members' names") {
    for (const std::string good : {"a.npy", "a/b.npy", "..a/b..", "model.layers.0.weight.npy", "é", "a b", ".npy"}) {
        INFO(good);
        CHECK(member_name_problem(good).empty());
    }
    for (const std::string bad :
         {"/a", "../a", "a/../b", "a/..", "./a", "a//b", "a/", "", "a\\b", "C:a", "a\nb", "a\x1B[2J", "a\x7F"}) {
        INFO(bad);
        CHECK_FALSE(member_name_problem(bad).empty());
    }
    CHECK_FALSE(member_name_problem(std::string("a\0b", 3)).empty());
    CHECK_FALSE(member_name_problem(std::string(65536, 'n')).empty());
    CHECK(member_name_problem(std::string(65535, 'n')).empty());
}
