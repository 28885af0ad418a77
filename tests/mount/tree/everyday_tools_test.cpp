// Everyday programs over real models' names agree with the models' indexes.

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"
#include "tests/support/reader.hpp"

using namespace tensorfs::tests;

namespace {

/// How often `wanted` stands in `text`.
std::size_t count(const std::string& text, const std::string& wanted) {
    std::size_t times = 0;
    for (std::size_t at = 0; (at = text.find(wanted, at)) != std::string::npos; at += wanted.size()) ++times;
    return times;
}

std::size_t lines(const std::string& text) { return count(text, "\n"); }

/// The number at the front of what a program printed.
std::uint64_t number(const Result& result) {
    if (result.code != 0) throw std::runtime_error("failed: " + result.err);
    std::istringstream text(result.out);
    std::uint64_t value = 0;
    text >> value;
    return value;
}

/// Checks what the tools say about the model of one index.
void check_tools(const std::filesystem::path& index_path) {
    const TemporaryFolder folder;
    make_model({"from-index", index_path.string()}, folder / "model");
    std::ifstream in(index_path);
    const nlohmann::json index = nlohmann::json::parse(in);
    const std::size_t tensors = index["weight_map"].size();
    std::uint64_t nbytes = 0;
    std::uint64_t blocks = 0;
    for (const StoredTensor& tensor : read_model(folder / "model").tensors) {
        nbytes += tensor.nbytes;
        blocks += (tensor.nbytes + 511) / 512;
    }
    if (index.contains("metadata") && index["metadata"].contains("total_size"))
        REQUIRE(nbytes == index["metadata"]["total_size"].get<std::uint64_t>());

    const Mounted mount(folder / "model");
    const std::string& root = mount.path();
    const Result files = run({"find", root, "-type", "f"});
    CHECK(files.code == 0);
    CHECK(lines(files.out) == tensors);
    const std::size_t nodes = lines(run({"find", root}).out);

    CHECK(number(run({"du", "-s", "--apparent-size", "-B1", root})) == nbytes);
    CHECK(number(run({"du", "-s", "-B512", root})) == blocks);
    CHECK(number(run({"du", "-s", "--inodes", root})) == nodes);
    CHECK(number(run_shell("df -B512 --output=size $0 | tail -1", {root})) == blocks);
    CHECK(number(run_shell("df -B512 --output=used $0 | tail -1", {root})) == blocks);
    CHECK(number(run_shell("df -B512 --output=avail $0 | tail -1", {root})) == 0);
    CHECK(number(run_shell("df --output=itotal $0 | tail -1", {root})) == nodes);

    const Result listed = run({"ls", "-lR", root});
    CHECK(listed.code == 0);
    CHECK(listed.err.empty());
    CHECK(count(listed.out, "\n-r--r--r-- 1 ") == tensors);

    const Result sizes = run({"getfattr", "-R", "-P", "--absolute-names", "-n", "user.tensor.nbytes", root});
    CHECK(sizes.code == 0);
    CHECK(sizes.err.empty());
    CHECK(count(sizes.out, "user.tensor.nbytes=") == nodes);
}

std::optional<std::filesystem::path> index_of(const std::string& name) {
    const auto data = test_data("real");
    if (!data) return std::nullopt;
    return std::filesystem::canonical(*data / "index" / (name + ".index.json"));
}

}  // namespace

TEST_CASE("find, du, df, ls and getfattr agree with the index of Llama 70B") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const auto index = index_of("llama-70b-162-shards");
    if (!index) SKIP_TEST("the real files are not there");
    check_tools(*index);
}

TEST_CASE("find, du, df, ls and getfattr agree with the index of Molmo 7B, whose names begin with others") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const auto index = index_of("molmo-7b-nf4-2-shards");
    if (!index) SKIP_TEST("the real files are not there");
    check_tools(*index);
}

TEST_CASE("find, du, df, ls and getfattr agree with the index of a mixture of experts with 22,213 tensors") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const auto index = index_of("qwen3.5-moe-25b-10-shards");
    if (!index) SKIP_TEST("the real files are not there");
    check_tools(*index);
}

TEST_CASE("cp -r copies each tensor once, and diff -r finds no difference") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    make_model({"demo"}, folder / "model");
    const Mounted mount(folder / "model");
    const StoredModel model = read_model(folder / "model");
    CHECK(run({"cp", "-r", mount.path(), folder / "copy"}).code == 0);
    CHECK(run({"diff", "-r", mount.path(), folder / "copy"}).code == 0);
    CHECK(lines(run({"find", folder / "copy", "-type", "f"}).out) == model.tensors.size());
    for (const StoredTensor& tensor : model.tensors) {
        std::string path = tensor.name;
        std::replace(path.begin(), path.end(), '.', '/');
        CHECK((read_file(folder / ("copy/" + path)) == stored_bytes(tensor)));
    }
    run({"chmod", "-R", "u+w", folder / "copy"});  // so that it can be removed
}

TEST_CASE("tensors.json and metadata.json say what the shards say") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    make_model({"demo"}, folder / "model");
    const Mounted mount(folder / "model");
    const StoredModel model = read_model(folder / "model");
    auto left = by_name(model);
    for (const auto& entry : nlohmann::json::parse(read_file(mount / ".tensorfs/tensors.json"))) {
        const StoredTensor tensor = left.at(entry["name"]);
        CHECK(entry["dtype"] == tensor.dtype);
        CHECK(entry["shape"].dump() == tensor.shape);
        CHECK(entry["shard"] == tensor.shard);
        CHECK(entry["offset"] == tensor.offset);
        CHECK(entry["nbytes"] == tensor.nbytes);
        CHECK(get_xattr(mount / entry["path"].get<std::string>(), "user.tensor.name") == tensor.name);
        left.erase(tensor.name);
    }
    CHECK(left.empty());
    const auto metadata = nlohmann::json::parse(read_file(mount / ".tensorfs/metadata.json"));
    CHECK(metadata.size() == model.shards.size());
    for (const std::string& shard : model.shards) {
        const std::string name = std::filesystem::path(shard).filename();
        CHECK(metadata.at(name).dump() == R"({"format":"pt"})");
    }
}

TEST_CASE("sha256sum -c checks in the mount what sum printed without it") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"a.w", "U8", {100'000}, sample_bytes(100'000, 1)},
                                                           {"b\\c.%\n", "U8", {3}, "abc"},
                                                           {"none", "U8", {0}, ""}}));
    const Mounted mount(folder / "m.safetensors");
    const Result sums = run_shell(R"("$0" sum "$1" > "$2" && cd "$3" && sha256sum --strict -c "$2")",
                                  {program(), folder / "m.safetensors", folder / "sums", mount.path()});
    CHECK(sums.code == 0);
    CHECK(count(sums.out, ": OK") == 3);
}
