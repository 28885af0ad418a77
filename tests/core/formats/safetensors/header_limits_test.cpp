#include <filesystem>
#include <fstream>

#include "core/formats/safetensors/safetensors.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// How much memory a header may cost.

namespace {

std::string length(std::uint64_t value) {
    std::string bytes;
    for (int i = 0; i < 8; ++i, value >>= 8) bytes += static_cast<char>(value & 0xFF);
    return bytes;
}

/// A file that begins with `bytes` and is `size` long, the rest a hole.
void write_sparse(const std::string& path, std::string_view bytes, std::uint64_t size) {
    write_file(path, bytes);
    std::filesystem::resize_file(path, size);
}

/// The times that reading this header needs its size in memory.
std::size_t cost(const std::string& header, std::uint64_t data_size) {
    const json::Text text(header);
    return memory_of([&] { safetensors::parse_header(text, 8 + header.size() + data_size, "m"); }) / header.size();
}

constexpr std::size_t megabyte = 1 << 20;

}  // namespace

TEST_CASE("allocations are counted") {
    CHECK(memory_of([] { const std::vector<char> bytes(3 * megabyte); }) >= 3 * megabyte);
}

TEST_CASE("a header of exactly 100,000,000 bytes is accepted") {
    const TemporaryFolder folder;
    const std::string path = folder / "m.safetensors";
    {
        std::ofstream out(path, std::ios::binary);
        out << length(100'000'000) << "{";
        const std::string spaces(1'000'000, ' ');
        for (int i = 0; i < 99; ++i) out << spaces;
        out << spaces.substr(2) << "}";
        REQUIRE(out.flush());
    }
    REQUIRE(std::filesystem::file_size(path) == 100'000'008);
    CHECK(problems_of([&] { CHECK(safetensors::read_header(Shard(path)).tensors.empty()); }).empty());
}

TEST_CASE("a header of 100,000,001 bytes is refused, though the file has them, and is not read") {
    const TemporaryFolder folder;
    write_sparse(folder / "m.safetensors", length(100'000'001) + "{}", 100'000'009);
    std::vector<Problem> problems;
    const std::size_t memory =
        memory_of([&] { problems = problems_of([&] { safetensors::read_header(Shard(folder / "m.safetensors")); }); });
    CHECK(kinds(problems) == "HeaderTooLarge ");
    CHECK(memory < megabyte);
}

TEST_CASE("nothing is allocated for a header that the file does not have") {
    const TemporaryFolder folder;
    for (const std::uint64_t claimed :
         {std::uint64_t{99'999'999}, safetensors::max_header_size, UINT64_MAX, UINT64_MAX / 2}) {
        write_file(folder / "m.safetensors", length(claimed) + "{}");
        std::vector<Problem> problems;
        const std::size_t memory = memory_of(
            [&] { problems = problems_of([&] { safetensors::read_header(Shard(folder / "m.safetensors")); }); });
        CHECK(problems.size() == 1);
        CHECK(memory < megabyte);
    }
}

TEST_CASE("the data is not read, however much there is") {
    const TemporaryFolder folder;
    const std::string header = R"({"a":["U8",[1099511627776],[0,1099511627776]]})";
    write_sparse(folder / "m.safetensors", length(header.size()) + header,
                 8 + header.size() + (std::uint64_t{1} << 40));
    const std::size_t memory = memory_of([&] {
        const Header read = safetensors::read_header(Shard(folder / "m.safetensors"));
        REQUIRE(read.tensors.size() == 1);
        CHECK(read.tensors[0].nbytes() == std::uint64_t{1} << 40);
    });
    CHECK(memory < megabyte);
}

TEST_CASE("a header costs a small multiple of its size, however it is made") {
    constexpr std::size_t most = 32;
    SECTION("many dimensions") {
        std::string header = R"({"a":["U8",[0)";
        while (header.size() < 4 * megabyte) header += ",0";
        CHECK(cost(header + "],[0,0]]}", 0) < most);
    }
    SECTION("many tensors") {
        std::string header = "{\"\":[\"U8\",[],[0,1]]";
        std::size_t count = 1;
        while (header.size() < 4 * megabyte) {
            const std::string begin = std::to_string(count++);
            header += ",\"" + begin + "\":[\"U8\",[],[" + begin + ',' + std::to_string(count) + "]]";
        }
        CHECK(cost(header + "}", count) < most);
    }
    SECTION("many keys of metadata") {
        std::string header = R"({"__metadata__":{"":"")";
        for (int i = 0; header.size() < 4 * megabyte; ++i) header += ",\"" + std::to_string(i) + "\":\"\"";
        CHECK(cost(header + "}}", 0) < most);
    }
    SECTION("one long name") {
        CHECK(cost("{\"" + std::string(4 * megabyte, 'x') + "\":[\"U8\",[0],[0,0]]}", 0) < most);
    }
    SECTION("what is passed over") {
        std::string header = R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":[0)";
        while (header.size() < 4 * megabyte) header += ",[]";
        CHECK(cost(header + "]}}", 0) < most);
    }
}
