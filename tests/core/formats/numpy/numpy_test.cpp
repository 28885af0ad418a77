#include "core/formats/numpy/numpy.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/tensors/gather.hpp"
#include "tests/core/formats/zip/archive.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/sha256.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

using Json = nlohmann::json;

std::string array_of(const std::string& descr, const std::string& shape, const std::string& data,
                     const std::string& order = "False") {
    const std::string text = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
    return std::string("\x93NUMPY\1") + '\0' + little_endian(text.size(), 2) + text + data;
}

bool is_archive(const Shard& shard) {
    std::string beginning(std::min<std::uint64_t>(shard.size(), 64), '\0');
    shard.read(0, beginning);
    return numpy::is_archive(beginning, shard);
}

/// A tensor's bytes, row-major, by slice or by strides.
std::string bytes_of(const Tensor& tensor, const Shard& shard) {
    std::string bytes(tensor.nbytes(), '\0');
    const std::span<std::byte> into(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
    if (!tensor.is_strided()) {
        CHECK(shard.copy(tensor.offset(), into));
        return bytes;
    }
    const Shape shape = tensor.shape();
    const Strides strides = tensor.strides();
    const Gather gather({{shape.begin(), shape.end()},
                         {strides.begin(), strides.end()},
                         tensor.nbytes() / tensor.elements(),
                         tensor.offset()});
    CHECK(gather.read(0, into, [&](std::uint64_t at, std::span<std::byte> out) { return shard.copy(at, out); }));
    return bytes;
}

}  // namespace

TEST_CASE("the tensors of the corpus of NumPy files have their places, types, shapes and bytes") {
    const auto folder = test_data("conformance");
    if (!folder) SKIP_TEST("the conformance corpus is absent");
    std::istringstream lines(read_file(*folder / "numpy/verdicts.jsonl"));
    std::size_t tensors = 0;
    for (std::string line; std::getline(lines, line);) {
        const Json verdict = Json::parse(line);
        const std::string expect = verdict.at("expect");
        if (expect != "accept" && expect != "partial") continue;
        const std::string path = (*folder / "numpy/cases" / verdict.at("file").get<std::string>()).string();
        INFO(path);
        const Shard shard(path);
        const bool is_array = path.ends_with(".npy");
        CHECK(is_archive(shard) == !is_array);
        const Header header = is_array ? numpy::read_array_file(shard, {.prefix = "part/"})
                                       : numpy::read_archive_file(shard, {.prefix = "part/"});
        REQUIRE(header.tensors.size() == verdict.at("tensors").size());
        CHECK(header.notes.size() >= verdict.value("left_out", Json::array()).size());
        for (const Json& expected : verdict.at("tensors")) {
            const auto found = std::find_if(header.tensors.begin(), header.tensors.end(), [&](const Tensor& tensor) {
                return tensor.name() == expected.at("name").get<std::string>();
            });
            REQUIRE(found != header.tensors.end());
            ++tensors;
            CHECK(found->full_name() == "part/" + std::string(found->name()));
            CHECK(to_string(found->dtype()) == expected.at("dtype").get<std::string>());
            CHECK(Json(std::vector<std::uint64_t>(found->shape().begin(), found->shape().end())) ==
                  expected.at("shape"));
            CHECK(found->is_strided() != expected.at("contiguous").get<bool>());
            if (expected.contains("begin")) CHECK(found->offset() == expected.at("begin").get<std::uint64_t>());
            CHECK(sha256(bytes_of(*found, shard)) == expected.at("sha256").get<std::string>());
        }
    }
    CHECK(tensors > 80);
}

TEST_CASE("what an archive leaves out is noted by name and reason") {
    const TemporaryFolder folder;
    write_file(folder / "a.npz", zip_archive({{"w.npy", array_of("<f4", "(1,)", "1234")},
                                              {.name = "z.npy", .bytes = "123", .method = 8, .inflated = 9},
                                              {"o.npy", array_of("|O", "(1,)", "a pickle")},
                                              {"read\nme", "text"},
                                              {"folder/", ""},
                                              {"text.npy", "text"}}));
    const Header header = numpy::read_archive_file(Shard(folder / "a.npz"), {});
    REQUIRE(header.tensors.size() == 1);
    CHECK(header.notes == std::vector<std::string>{"\"z\" is left out: compressed",
                                                   "\"read\nme\" is left out: no array",
                                                   "\"o\" is left out: objects, as a pickle (|O)",
                                                   "\"text.npy\" is left out: no array, in spite of its name"});
}

TEST_CASE("arrays that are bad refuse an archive, unless it is read in part") {
    const TemporaryFolder folder;
    const std::string good = array_of("<f4", "(1,)", "1234");
    write_file(folder / "a.npz", zip_archive({{"bad.npy", good.substr(0, good.size() - 1)}, {"good.npy", good}}));
    const Shard shard(folder / "a.npz");
    CHECK(kinds(problems_of([&] { static_cast<void>(numpy::read_archive_file(shard, {})); })) ==
          "MetadataIncompleteBuffer ");
    const Header header = numpy::read_archive_file(shard, {.partial = true});
    REQUIRE(header.tensors.size() == 1);
    CHECK(header.tensors[0].name() == "good");
    REQUIRE(header.problems.size() == 1);
    CHECK(header.problems[0].tensor == "bad");
    write_file(folder / "b.npz", zip_archive({{"bad.npy", good.substr(0, good.size() - 1)}}));
    CHECK(kinds(problems_of([&] {
              static_cast<void>(numpy::read_archive_file(Shard(folder / "b.npz"), {.partial = true}));
          })) == "MetadataIncompleteBuffer ");
}

TEST_CASE("archives are told by what they hold, and by their name where they cannot be read") {
    const TemporaryFolder folder;
    const auto told = [&](const std::string& name, const std::string& bytes) {
        write_file(folder / name, bytes);
        return is_archive(Shard(folder / name));
    };
    const std::string archive = zip_archive({{"w.npy", array_of("<f4", "(1,)", "1234")}});
    CHECK(told("a.bin", archive));
    CHECK(told("a.npz", archive.substr(0, 50)));
    CHECK(told("b.npz", zip_archive({})));
    CHECK_FALSE(told("b.bin", archive.substr(0, 50)));
    CHECK_FALSE(told("c.bin", zip_archive({{"x.txt", ""}})));
    CHECK_FALSE(told("d.npz", std::string("PK\3\4\0\0\0\0{", 9)));  // a safetensors header of 67,324,752 bytes
    CHECK_FALSE(told("e.npz", "PK\1\2"));
    CHECK(numpy::is_array_file("\x93NUMPY\1", Shard(folder / "a.bin")));
    CHECK_FALSE(numpy::is_array_file("\x93NUMP", Shard(folder / "a.bin")));
}

TEST_CASE("an array's name is its file's, escaped where that is no UTF-8") {
    const TemporaryFolder folder;
    const std::string array = array_of("<f4", "(1,)", "1234");
    for (const auto& [file, name] : std::vector<std::pair<std::string, std::string>>{
             {"a.b.npy", "a.b"}, {"x.npy.npy", "x.npy"}, {"plain", "plain"}, {".npy", ""}, {"\xFF.npy", "\\xFF"}}) {
        write_file(folder / file, array);
        const Header header = numpy::read_array_file(Shard(folder / file), {});
        REQUIRE(header.tensors.size() == 1);
        CHECK(header.tensors[0].name() == name);
    }
}
