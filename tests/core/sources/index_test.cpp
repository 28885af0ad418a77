#include "core/sources/index.hpp"

#include <sys/stat.h>

#include "tests/core/sources/format_lists.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

std::string refusal(std::string_view text) {
    return kinds(problems_of([&] { Index::parse(text, "index.json", only_safetensors); }));
}

/// The entries as "NAME=SHARD ".
std::string entries_of(const Index& index) {
    std::string text;
    for (const Index::Entry& entry : index.entries()) {
        text += std::string(index.name(entry)) + '=' + index.shards().at(entry.shard) + ' ';
    }
    return text;
}

}  // namespace

TEST_CASE("an index says which shard holds which tensor: in byte order of the names") {
    const Index index = Index::parse(
        R"({"metadata":{"total_size":12,"x":[1]},"weight_map":{"b":"2.safetensors","a.10":"1.safetensors",)"
        R"("a.2":"2.safetensors","Z":"1.safetensors"},"more":{"weight_map":1}})",
        "index.json");
    CHECK(entries_of(index) == "Z=1.safetensors a.10=1.safetensors a.2=2.safetensors b=2.safetensors ");
    CHECK(index.shards() == std::vector<std::string>{"1.safetensors", "2.safetensors"});
    CHECK(index.total_size() == 12U);
}

TEST_CASE("names and shards are decoded") {
    const Index index = Index::parse(R"({"weight_map":{"\u0061\n":"\u0062.safetensors","":"b.safetensors"}})", "i");
    CHECK(entries_of(index) == "=b.safetensors a\n=b.safetensors ");
    CHECK(index.shards().size() == 1);
}

TEST_CASE("an index may be empty, and its metadata may be absent or anything") {
    CHECK(Index::parse(R"({"weight_map":{}})", "i").entries().empty());
    for (const char* metadata : {"null", "1", "[]", "{}", "\"x\"", R"({"total_size":null})", R"({"total_size":"12"})",
                                 R"({"total_size":-1})", R"({"total_size":1.5})", R"({"total_size":1e3})"}) {
        INFO(metadata);
        const Index index = Index::parse("{\"weight_map\":{},\"metadata\":" + std::string(metadata) + "}", "i");
        CHECK_FALSE(index.total_size().has_value());
    }
}

TEST_CASE("what is no index is refused") {
    for (const char* text : {"",
                             "[]",
                             "null",
                             "{",
                             "{}",
                             R"({"weight_map":null})",
                             R"({"weight_map":[]})",
                             R"({"weight_map":"x"})",
                             R"({"weight_map":{"a":1}})",
                             R"({"weight_map":{"a":null}})",
                             R"({"weight_map":{"a":["b.safetensors"]}})",
                             R"({"weight_map":{},"weight_map":{}})",
                             R"({"weight_map":{}} x)",
                             R"({"weight_map":{},"x":tru})",
                             R"({"weight_map":{},"metadata":{"a":1,}})",
                             R"({"weight_map":{},"metadata":{"total_size":01}})",
                             R"({"weight_map":{"a":"\uD800.safetensors"}})",
                             "\xEF\xBB\xBF{\"weight_map\":{}}",
                             "{\"weight_map\":{\"\xFF\":\"a.safetensors\"}}",
                             R"({"Weight_map":{}})"}) {
        INFO(text);
        CHECK(refusal(text) == "InvalidIndex ");
    }
}

TEST_CASE("a shard is a .safetensors file") {
    CHECK(refusal(R"({"weight_map":{"a":"model.bin"}})") == "InvalidIndex ");
    CHECK(refusal(R"({"weight_map":{"a":"model.safetensors.index.json"}})") == "InvalidIndex ");
    CHECK(refusal(R"({"weight_map":{"a":"below/model.safetensors"}})").empty());
}

TEST_CASE("an index leads nowhere but to its folder and below") {
    for (const char* path :
         {"", "/a.safetensors", "/", "../a.safetensors", "x/../a.safetensors", "..", "x/..", "x/../../a.safetensors",
          "a\\b.safetensors", "..\\a.safetensors", "C:a.safetensors", "C:/a.safetensors"}) {
        INFO(path);
        CHECK_FALSE(shard_path_problem(path).empty());
        const auto problems = problems_of([&] { Index::parse(index_file({{"a", path}}), "index.json"); });
        CHECK(kinds(problems) == "InvalidShardPath ");
    }
    CHECK_FALSE(shard_path_problem(std::string_view("a\0.safetensors", 14)).empty());
    CHECK(refusal(R"({"weight_map":{"a":"a\u0000.safetensors"}})") == "InvalidShardPath ");
    for (const char* path : {"a.safetensors", "x/a.safetensors", "./a.safetensors", "..a.safetensors",
                             "a...safetensors", "x..y/a.safetensors", "größe.safetensors", ".safetensors"}) {
        INFO(path);
        CHECK(shard_path_problem(path).empty());
    }
}

TEST_CASE("a tensor stands in one shard only, and a repetition is no contradiction") {
    const Index index = Index::parse(R"({"weight_map":{"a":"1.safetensors","a":"1.safetensors"}})", "i");
    CHECK(entries_of(index) == "a=1.safetensors ");
    const auto problems = problems_of(
        [] { Index::parse(R"({"weight_map":{"t":"1.safetensors","\u0074":"2.safetensors"}})", "index.json"); });
    CHECK(kinds(problems) == "DuplicateName ");
    CHECK(problems.at(0).tensor == "t");
    CHECK(problems.at(0).path == "index.json");
    CHECK(contains(problems.at(0).text, "1.safetensors"));
    CHECK(contains(problems.at(0).text, "2.safetensors"));
}

TEST_CASE("all that is wrong in an index is told at once, each shard once") {
    const auto problems = problems_of([] {
        Index::parse(R"({"weight_map":{"a":"/1.safetensors","b":"/1.safetensors","c":"../2.safetensors","d":"3.bin",)"
                     R"("e":"4.safetensors","e":"5.safetensors"}})",
                     "index.json", only_safetensors);
    });
    CHECK(kinds(problems) == "InvalidShardPath InvalidShardPath InvalidIndex DuplicateName ");
}

TEST_CASE("an index is read from a regular file") {
    const TemporaryFolder folder;
    write_file(folder / "i.json", index_file({{"a", "1.safetensors"}}));
    CHECK(entries_of(Index::read(folder / "i.json")) == "a=1.safetensors ");
    CHECK(kinds(problems_of([&] { Index::read(folder / "none.json"); })) == "MissingShard ");
    CHECK(kinds(problems_of([&] { Index::read(folder.path().string()); })) == "NotRegularFile ");
    REQUIRE(::mkfifo((folder / "fifo.json").c_str(), 0600) == 0);
    CHECK(kinds(problems_of([&] { Index::read(folder / "fifo.json"); })) == "NotRegularFile ");
}

TEST_CASE("an index of a size beyond reason is not read") {
    const TemporaryFolder folder;
    write_file(folder / "i.json", "{");
    std::filesystem::resize_file(folder / "i.json", std::uint64_t{1} << 40);
    CHECK(kinds(problems_of([&] { Index::read(folder / "i.json"); })) == "InvalidIndex ");
}

TEST_CASE("a big index in any order is read, and its shards are counted once", "[thorough]") {
    std::vector<std::pair<std::string, std::string>> map;
    for (int i = 20000; i-- > 0;) {
        map.emplace_back("t" + std::to_string(100000 + i), std::to_string(i % 7) + ".safetensors");
    }
    const Index index = Index::parse(index_file(map), "i");
    REQUIRE(index.entries().size() == 20000);
    CHECK(index.shards().size() == 7);
    for (std::size_t i = 0; i < 20000; ++i) {
        REQUIRE(index.name(index.entries()[i]) == "t" + std::to_string(100000 + i));
        REQUIRE(index.shards()[index.entries()[i].shard] == std::to_string(i % 7) + ".safetensors");
    }
}
