#include "core/formats/zip/directory.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/views/zip_writer.hpp"
#include "tests/core/formats/zip/archive.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

constexpr std::uint64_t ones = 0xFFFFFFFF;

/// An archive on the disk.
struct File {
    TemporaryFolder folder;
    std::string path = folder / "a.zip";

    explicit File(std::string_view bytes) { write_file(path, bytes); }
    [[nodiscard]] zip::Directory read() const { return zip::read_directory(Shard(path)); }
};

/// What an archive is refused for; "" where it is not.
std::string fault(const std::string& bytes) {
    const File file(bytes);
    const auto problems = problems_of([&] { static_cast<void>(file.read()); });
    if (problems.empty()) return "";
    CHECK(problems.size() == 1);
    CHECK(problems[0].kind == Kind::InvalidArchive);
    CHECK(problems[0].path == file.path);
    return problems[0].text;
}

/// What a member holds, by its place in the archive.
std::string bytes_of(const std::string& archive, const zip::Directory& directory, std::string_view name) {
    const zip::Member* member = directory.find(name);
    if (member == nullptr) return "no such member";
    return archive.substr(member->offset, member->nbytes);
}

const std::vector<ZipMember> two{{"a", "first"}, {"b/c", "second"}};

}  // namespace

TEST_CASE("an archive's members are told by name, place and size, in the directory's order") {
    const std::string archive = zip_archive({{"z", "last"}, {"folder/", ""}, {"a", "first"}});
    const zip::Directory directory = File(archive).read();
    REQUIRE(directory.members().size() == 3);
    CHECK(directory.members()[0].name == "z");
    CHECK(directory.members()[1].name == "folder/");
    CHECK(directory.members()[1].nbytes == 0);
    CHECK(directory.members()[2].name == "a");
    CHECK(bytes_of(archive, directory, "z") == "last");
    CHECK(bytes_of(archive, directory, "a") == "first");
    CHECK(directory.find("folder/") == &directory.members()[1]);
    CHECK(directory.find("") == nullptr);
    CHECK(directory.find("folder") == nullptr);
    CHECK(directory.find("zz") == nullptr);
}

TEST_CASE("an archive of nothing has no members") { CHECK(File(zip_archive({})).read().members().empty()); }

TEST_CASE("a member's bytes begin behind the local header's own extra field, and a descriptor is no part of them") {
    const std::string archive = zip_archive(
        {{.name = "a", .bytes = "x", .flags = 8, .extra = "in the directory", .local_extra = std::string(37, 'Z')},
         {.name = "b", .bytes = "yy", .flags = 8, .descriptor = "PK\7\10............"},
         {.name = "c", .bytes = ""}});
    const zip::Directory directory = File(archive).read();
    CHECK(bytes_of(archive, directory, "a") == "x");
    CHECK(bytes_of(archive, directory, "b") == "yy");
}

TEST_CASE("compressed and encrypted members are told, and the others are read all the same") {
    const zip::Directory directory =
        File(zip_archive({{.name = "deflated", .bytes = "123", .method = 8, .inflated = 99},
                          {.name = "locked", .bytes = "12345", .flags = 1, .inflated = 1},
                          {.name = "plain", .bytes = "x"}}))
            .read();
    CHECK(directory.find("deflated")->obstacle == zip::Obstacle::compressed);
    CHECK(directory.find("deflated")->nbytes == 3);
    CHECK(directory.find("locked")->obstacle == zip::Obstacle::encrypted);
    CHECK(directory.find("plain")->obstacle == zip::Obstacle::none);
}

TEST_CASE("sizes and places of 0xFFFFFFFF are in the ZIP64 field, each only if it is so") {
    const std::string other = little_endian(0xCAFE, 2) + little_endian(3, 2) + "abc";
    const std::string archive =
        zip_archive({{.name = "all", .bytes = "123", .extra = zip64_extra({3, 3, 0}), .header = ones, .nbytes = ones},
                     {.name = "size", .bytes = "45", .extra = other + zip64_extra({2}), .inflated = ones},
                     {.name = "none", .bytes = "6", .extra = zip64_extra({7, 7, 7})}});
    const zip::Directory directory = File(archive).read();
    CHECK(bytes_of(archive, directory, "all") == "123");
    CHECK(bytes_of(archive, directory, "size") == "45");
    CHECK(bytes_of(archive, directory, "none") == "6");
}

TEST_CASE("a size of 0xFFFFFFFF without a ZIP64 field, or with two, is refused") {
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "x", .nbytes = ones}})), "no ZIP64 field"));
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "x", .extra = zip64_extra({1}), .nbytes = ones}})),
                   "no ZIP64 field, or one too short"));
    const std::string twice = zip64_extra({1, 1}) + zip64_extra({1, 1});
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "x", .extra = twice, .nbytes = ones}})), "ZIP64"));
    const std::string cut = zip64_extra({1, 1}).substr(0, 12);
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "x", .extra = cut, .nbytes = ones}})), "ZIP64"));
}

TEST_CASE("ZIP64's end record counts, and the end record says the same or points there") {
    for (const bool all_ones : {false, true}) {
        INFO(all_ones);
        CHECK(File(zip_archive(two, {.zip64 = true, .all_ones = all_ones})).read().members().size() == 2);
        CHECK(File(zip_archive({}, {.zip64 = true, .all_ones = all_ones})).read().members().empty());
    }
    CHECK(contains(fault(zip_archive(two, {.zip64 = true, .entries = 1})), "contradict"));
    CHECK(contains(fault(zip_archive(two, {.zip64 = true, .offset = 0})), "contradict"));
    CHECK(contains(fault(zip_archive(two, {.zip64 = true, .nbytes = 46})), "contradict"));
    CHECK(contains(fault(zip_archive(two, {.zip64 = true, .disk = 1})), "disks"));
    CHECK(contains(fault(zip_archive(two, {.zip64 = true, .zip64_at = 0})), "there is none"));
    CHECK(contains(fault(zip_archive(two, {.zip64 = true, .zip64_at = UINT64_MAX})), "ZIP64 end record would begin"));
    CHECK(contains(fault(zip_archive(two, {.zip64 = true, .zip64_nbytes = 45})), "there is none"));
    CHECK(contains(fault(zip_archive(two, {.zip64 = true, .zip64_nbytes = UINT64_MAX})), "there is none"));
}

TEST_CASE("an end record that points to ZIP64's, where there is none, is refused") {
    CHECK(contains(fault(zip_archive(two, {.all_ones = true, .disk = 0})), "directory"));
    CHECK(contains(fault(zip_archive(two, {.all_ones = true})), "disks"));
}

TEST_CASE("a directory has as many entries as the records say, and nothing else") {
    CHECK(contains(fault(zip_archive(two, {.entries = 1})), "behind its 1 entries"));
    CHECK(contains(fault(zip_archive(two, {.entries = 3})), "too small for 3"));
    CHECK(contains(fault(zip_archive({{std::string(100, 'n'), "x"}}, {.entries = 2})), "ends inside an entry"));
    CHECK(contains(fault(zip_archive(two, {.behind_directory = "x"})), "1 bytes behind"));
    CHECK(contains(fault(zip_archive(two, {.behind_directory = std::string(46, '\0'), .entries = 3})), "no entry"));
    CHECK(
        contains(fault(zip_archive(two, {.zip64 = true, .all_ones = true, .zip64_entries = UINT64_MAX})), "too small"));
    CHECK(contains(fault(zip_archive(two, {.zip64 = true, .all_ones = true, .zip64_entries = 1})), "behind its 1"));
}

TEST_CASE("a directory that is not where the end record says, or does not end there, is refused") {
    CHECK(contains(fault(zip_archive(two, {.offset = 0})), "should be where it ends"));
    CHECK(contains(fault(zip_archive(two, {.nbytes = 10})), "should be where it ends"));
    CHECK(contains(fault(zip_archive(two, {.offset = ones})), "should be where it ends"));
    CHECK(contains(fault("something before it" + zip_archive(two)), "should be where it ends"));
}

TEST_CASE("an archive that was cut short anywhere is refused") {
    const std::string archive = zip_archive(two, {.zip64 = true});
    for (std::size_t size = 0; size < archive.size(); ++size) {
        INFO(size << " bytes");
        CHECK(contains(fault(archive.substr(0, size)), "cut short or is still being downloaded"));
    }
}

TEST_CASE("a comment may be of any length, and ends with the file") {
    for (const std::size_t size : {1U, 22U, 1000U, 65535U}) {
        CHECK(File(zip_archive(two, {.comment = std::string(size, 'c')})).read().members().size() == 2);
    }
    CHECK(contains(fault(zip_archive(two) + "x"), "do not end where the file does"));
    CHECK(contains(fault(zip_archive(two, {.comment = "four"}).substr(0, zip_archive(two).size() + 3)),
                   "do not end where the file does"));
    CHECK(contains(fault(zip_archive(two) + std::string(65536, 'x')), "no end record"));
}

TEST_CASE("an end record inside the comment is what most readers take, so that it must be right or refuses the file") {
    // Programs that search from the end would take the second one, and see another archive.
    const std::string fake = zip_archive({}).substr(0, 22);
    CHECK(contains(fault(zip_archive(two, {.comment = fake})), "should be where it ends"));
    CHECK(contains(fault(zip_archive(two, {.comment = fake + "and more"})), "do not end where the file does"));
    CHECK(contains(fault(zip_archive(two, {.comment = fake + std::string(500, '\0')})), "do not end"));
    // One that is right in itself is the archive: what stands before it are bytes that belong to nobody.
    const std::string first = zip_archive(two);
    std::string second = zip_archive({{"other", "member"}});
    const std::size_t directory = second.size() - 22 - 46 - 5;
    const auto moved = little_endian(first.size(), 4);
    second.replace(directory + 42, 4, moved);
    second.replace(second.size() - 6, 4, little_endian(first.size() + directory, 4));
    const std::string both = first.substr(0, first.size() - 2) + little_endian(second.size(), 2) + second;
    const zip::Directory read = File(both).read();
    REQUIRE(read.members().size() == 1);
    CHECK(bytes_of(both, read, "other") == "member");
}

TEST_CASE("an archive on several disks is refused") { CHECK(contains(fault(zip_archive(two, {.disk = 1})), "disks")); }

TEST_CASE("a member whose local header is not there, or tells otherwise, is refused") {
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "xyz", .header = 1}})), "no local header"));
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "x", .local_name = "b"}})), "another name"));
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "x", .local_name = "ab"}})), "another name"));
    CHECK(contains(fault(zip_archive({{.name = "ab", .bytes = "x", .local_name = "a"}})), "another name"));
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "x", .local_method = 8}})), "another method"));
    CHECK(
        contains(fault(zip_archive({{.name = "a", .bytes = "x", .method = 8, .local_method = 0}})), "another method"));
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "x", .local_flags = 1}})), "encrypted"));
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "x", .flags = 1, .local_flags = 0}})), "encrypted"));
}

TEST_CASE("members that overlap, or reach into the directory, are refused") {
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "x", .nbytes = 2}, {"b", ""}})), "overlaps"));
    CHECK(contains(fault(zip_archive({{"b", ""}, {.name = "a", .bytes = "x", .nbytes = 2}})), "into the directory"));
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "x", .nbytes = ones - 1}})), "into the directory"));
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "x", .header = ones - 1}})), "begins beyond the last"));
    CHECK(contains(fault(zip_archive({{.name = "a",
                                       .bytes = "x",
                                       .extra = zip64_extra({UINT64_MAX, UINT64_MAX, UINT64_MAX}),
                                       .header = ones,
                                       .nbytes = ones}})),
                   "begins beyond the last"));
    CHECK(contains(fault(zip_archive(
                       {{.name = "a", .bytes = "x", .extra = zip64_extra({UINT64_MAX, UINT64_MAX}), .nbytes = ones}})),
                   "into the directory"));
    // A whole archive stored inside a member shows its own local headers, which are no members of this one.
    const std::string inner = zip_archive({{"b", "x"}});
    CHECK(contains(fault(zip_archive({{"a", inner}, {.name = "b", .bytes = "x", .header = 31}})), "overlaps"));
    // A local header's extra field is a part of the member, too.
    const std::string nested = "PK\3\4" + std::string(22, '\0') + little_endian(1, 2) + little_endian(0, 2) + "b";
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "x", .local_extra = nested},
                                      {.name = "b", .bytes = "x", .header = 31}})),
                   "overlaps"));
}

TEST_CASE("a stored member of two sizes is refused") {
    CHECK(contains(fault(zip_archive({{.name = "a", .bytes = "xyz", .inflated = 2}})), "two sizes"));
}

TEST_CASE("a name that stands twice is refused, wherever the two are") {
    CHECK(contains(fault(zip_archive({{"a", "1"}, {"b", "2"}, {"a", "3"}})), "\"a\" stands there twice"));
    CHECK(contains(fault(zip_archive({{"a", ""}, {.name = "a", .bytes = "", .header = 0}})), "stands there twice"));
}

TEST_CASE("names are UTF-8 without NUL, whatever flag 11 says") {
    for (const std::uint64_t flags : {0U, 0x800U}) {
        CHECK(File(zip_archive({{.name = "\xC3\xBC", .bytes = "x", .flags = flags}})).read().members().size() == 1);
        CHECK(contains(fault(zip_archive({{.name = "\x81", .bytes = "x", .flags = flags}})), "not UTF-8"));
    }
    CHECK(contains(fault(zip_archive({{std::string("a\0b", 3), "x"}})), "NUL"));
}

TEST_CASE("a directory larger than is allowed takes no memory") {
    const TemporaryFolder folder;
    const std::string path = folder / "a.zip";
    const std::uint64_t size = std::uint64_t{1} << 40;
    const std::string end = zip_archive({}, {.zip64 = true, .all_ones = true});
    std::string records = end;
    records.replace(24, 16, little_endian(1000, 8) + little_endian(1000, 8));
    records.replace(40, 16, little_endian(size, 8) + little_endian(0, 8));
    records.replace(56 + 8, 8, little_endian(size, 8));
    {
        write_file(path, "");
        std::filesystem::resize_file(path, size);
        std::ofstream(path, std::ios::app | std::ios::binary) << records;
    }
    const auto problems = problems_of([&] { zip::read_directory(Shard(path)); });
    REQUIRE(problems.size() == 1);
    CHECK(contains(problems[0].text, "more than 100000000"));
}

TEST_CASE("what the program's own writer lays out is read back, many members and large ones") {
    const TemporaryFolder folder;
    ZipWriter zip;
    for (std::size_t i = 0; i < 70000; ++i) zip.add("archive/data/" + std::to_string(i), std::string(i % 300, 'x'));
    const Content content = zip.finish().content;
    const std::string archive = tests::bytes_of(content, {});
    const File file(archive);
    const zip::Directory directory = file.read();
    REQUIRE(directory.members().size() == 70000);
    for (std::size_t i = 0; i < 70000; i += 997) {
        const zip::Member* member = directory.find("archive/data/" + std::to_string(i));
        REQUIRE(member != nullptr);
        CHECK(member->nbytes == i % 300);
        CHECK(member->offset % 64 == 0);
    }
}

TEST_CASE("the archives of both corpora are read, or refused where they contradict themselves") {
    std::size_t archives = 0;
    for (const std::string corpus : {"numpy", "pytorch"}) {
        const auto folder = test_data("conformance");
        if (!folder) SKIP_TEST("the conformance corpus is absent");
        std::istringstream lines(read_file(*folder / corpus / "verdicts.jsonl"));
        for (std::string line; std::getline(lines, line);) {
            const nlohmann::json verdict = nlohmann::json::parse(line);
            const std::string path = (*folder / corpus / "cases" / verdict.at("file").get<std::string>()).string();
            const std::string bytes = read_file(path);
            if (!bytes.starts_with("PK\3\4")) continue;
            ++archives;
            INFO(path);
            const auto problems = problems_of([&] { zip::read_directory(Shard(path)); });
            for (const Problem& problem : problems) CHECK(problem.kind == Kind::InvalidArchive);
            const std::string expected = verdict.at("expect");
            if (expected == "accept" || expected == "partial") CHECK(problems.empty());
        }
    }
    CHECK(archives > 150);
}
