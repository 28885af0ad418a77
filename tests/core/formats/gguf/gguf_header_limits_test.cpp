#include <cstdio>
#include <filesystem>

#include "core/formats/gguf/gguf.hpp"
#include "tests/core/formats/gguf/gguf_file.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// How much memory the header of a GGUF file may cost: a small multiple of what it has, whatever it claims.

namespace {

constexpr std::size_t megabyte = 1 << 20;

std::string counts(std::uint64_t tensors, std::uint64_t keys) {
    return "GGUF" + little_endian(3, 4) + little_endian(tensors, 8) + little_endian(keys, 8);
}

/// The times that reading this file needs its size in memory.
std::size_t cost(const std::string& bytes) {
    const TemporaryFolder folder;
    write_file(folder / "m.gguf", bytes);
    const Shard shard(folder / "m.gguf");
    return memory_of([&] { gguf::read_header(shard); }) / bytes.size();
}

}  // namespace

TEST_CASE("nothing is allocated for what a GGUF file claims and does not have") {
    const TemporaryFolder folder;
    for (const std::uint64_t claimed : {std::uint64_t{1} << 62, std::uint64_t{1} << 40, UINT64_MAX}) {
        const std::string length = little_endian(claimed, 8);
        const std::string one_key = counts(0, 1) + gguf_string("k");
        for (const std::string& bytes :
             {counts(claimed, 0), counts(0, claimed), counts(0, 1) + length + "key", counts(1, 0) + length + "name",
              one_key + little_endian(gguf_str, 4) + length,
              one_key + little_endian(gguf_arr, 4) + gguf_array(gguf_u8, claimed, ""),
              one_key + little_endian(gguf_arr, 4) + gguf_array(gguf_u64, claimed, ""),
              one_key + little_endian(gguf_arr, 4) + gguf_array(gguf_str, claimed, gguf_string("")),
              one_key + little_endian(gguf_arr, 4) + gguf_array(gguf_arr, claimed, gguf_array(gguf_u8, claimed, ""))}) {
            write_file(folder / "m.gguf", bytes + std::string(64, '\0'));
            const Shard shard(folder / "m.gguf");
            std::vector<Problem> problems;
            const std::size_t header = memory_of([&] { problems = problems_of([&] { gguf::read_header(shard); }); });
            CHECK(kinds(problems) == "InvalidHeaderLength ");
            CHECK(header < megabyte);
            const std::size_t metadata =
                memory_of([&] { problems_of([&] { gguf::read_metadata(shard, Keep::all); }); });
            CHECK(metadata < megabyte);
        }
    }
}

TEST_CASE("a GGUF file's data is not read, nor are its arrays, however large they are") {
    const TemporaryFolder folder;
    constexpr std::uint64_t terabyte = std::uint64_t{1} << 40;
    std::string array =
        counts(1, 1) + gguf_string("k") + little_endian(gguf_arr, 4) + gguf_array(gguf_u8, terabyte, "");
    const std::string info = GgufFile().tensor("t", {terabyte}, gguf_tensor_i8, 0).header().substr(24);
    // The array is a hole, behind which the tensor's info stands; its data is another hole.
    const std::string path = folder / "m.gguf";
    write_file(path, array);
    std::filesystem::resize_file(path, array.size() + terabyte);
    {
        std::FILE* const file = std::fopen(path.c_str(), "ab");
        REQUIRE(file != nullptr);
        const bool is_written = std::fwrite(info.data(), 1, info.size(), file) == info.size();
        REQUIRE((std::fclose(file) == 0 && is_written));
    }
    std::filesystem::resize_file(path, array.size() + terabyte + info.size() + 32 + terabyte);
    const Shard shard(path);
    const std::size_t memory = memory_of([&] {
        const Header header = gguf::read_header(shard);
        REQUIRE(header.tensors.size() == 1);
        CHECK(header.tensors[0].nbytes() == terabyte);
    });
    CHECK(memory < megabyte);
}

TEST_CASE("a GGUF header costs a small multiple of its size, however it is made") {
    constexpr std::size_t most = 32;
    constexpr int many = 100'000;
    GgufFile file;
    SECTION("many tensors") {
        for (int i = 0; i < many; ++i) file.tensor(std::to_string(i), {}, gguf_tensor_i8, 32 * std::uint64_t(i));
        CHECK(cost(file.bytes(std::string(32 * many, 'x'))) < most);
    }
    SECTION("many empty tensors") {
        for (int i = 0; i < many; ++i) file.tensor(std::to_string(i), {0}, gguf_tensor_i8, 0);
        CHECK(cost(file.bytes("")) < most);
    }
    SECTION("many keys") {
        for (int i = 0; i < many; ++i) file.key(std::to_string(i), gguf_bool, "x");
        CHECK(cost(file.header()) < most);
    }
    SECTION("one long key") { CHECK(cost(file.key(std::string(4 * megabyte, 'k'), gguf_bool, "x").header()) < most); }
    SECTION("one long array") {
        std::string strings;
        for (int i = 0; i < many; ++i) strings += gguf_string("token");
        CHECK(cost(file.key("k", gguf_arr, gguf_array(gguf_str, many, strings)).header()) < 2);
    }
}

TEST_CASE("a GGUF header of 100,000 tensors in reverse order is read in a moment") {
    // Nothing is looked for among all that came before: that would be 10^10 steps.
    GgufFile file;
    constexpr std::uint64_t many = 100'000;
    for (std::uint64_t i = many; i-- > 0;) file.tensor("tensor." + std::to_string(i), {1}, gguf_tensor_i8, 32 * i);
    const TemporaryFolder folder;
    write_file(folder / "m.gguf", file.bytes(""));
    std::filesystem::resize_file(folder / "m.gguf", file.header().size() + 32 * (many + 1));
    const Header header = gguf::read_header(Shard(folder / "m.gguf"));
    CHECK(header.tensors.size() == many);
    CHECK(header.tensors.front().name() == "tensor.0");
}
