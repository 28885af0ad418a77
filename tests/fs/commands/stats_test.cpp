// `tensorfs stats` and `tensorfs show` as commands.

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/expect.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs::tests;

namespace {

std::string floats(const std::vector<float>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

const float nan_float = std::numeric_limits<float>::quiet_NaN();

/// A good model: b.2.w, b.10.w, a scalar and a tensor of no elements.
std::vector<Sample> good() {
    return {{"b.2.w", "F32", {2, 2}, floats({1, 2, 3, -4})},
            {"b.10.w", "F32", {3}, floats({5, 6, 0})},
            {"a", "F32", {}, floats({9})},
            {"none", "F32", {0, 3}, ""}};
}

Outcome run(const std::vector<Sample>& samples, std::vector<std::string> words, const std::string& verb = "stats") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file(samples));
    words.insert(words.begin(), {verb, folder / "m.safetensors"});
    Outcome outcome = run_program(words);
    for (std::size_t at = 0; (at = outcome.out.find(folder.path().string(), at)) != std::string::npos;)
        outcome.out.erase(at, folder.path().string().size() + 1);
    return outcome;
}

/// The first words of the lines but the first.
std::string order(const Outcome& outcome) {
    std::string names;
    for (const std::string& line : lines_of(outcome.out)) names += line.substr(0, line.find(' ')) + ' ';
    return names.substr(names.find(' ') + 1);
}

}  // namespace

TEST_CASE("stats: a line a tensor, in natural order") {
    const Outcome outcome = run(good(), {});
    CHECK(outcome.code == 0);
    CHECK(outcome.out ==
          "tensor  dtype  shape  min  max     mean      std  zeros  nan  inf\n"
          "a       F32    []       9    9        9        0      0    0    0\n"
          "b.2.w   F32    [2,2]   -4    3      0.5  2.69258      0    0    0\n"
          "b.10.w  F32    [3]      0    6  3.66667  2.62467      1    0    0\n"
          "none    F32    [0,3]    -    -        -        -      0    0    0\n");
}

TEST_CASE("stats: sorted by its columns") {
    CHECK(order(run(good(), {"--sort", "min"})) == "b.2.w b.10.w a none ");
    CHECK(order(run(good(), {"--sort=max"})) == "a b.10.w b.2.w none ");
    CHECK(order(run(good(), {"--sort=mean"})) == "a b.10.w b.2.w none ");
    CHECK(order(run(good(), {"--sort=std"})) == "b.2.w b.10.w a none ");
    CHECK(order(run(good(), {"--sort=zeros"})) == "b.10.w a b.2.w none ");
    CHECK(order(run(good(), {"--sort=size"})) == "b.2.w b.10.w a none ");
    CHECK(run(good(), {"--sort=colour"}).code == 2);
}

TEST_CASE("stats: patterns select, and one that matches nothing is an error") {
    CHECK(order(run(good(), {"b.*"})) == "b.2.w b.10.w ");
    CHECK(run(good(), {"x*"}).code == 3);
}

TEST_CASE("stats: totals of folders") {
    const Outcome outcome = run(good(), {"--folders", "1"});
    CHECK(outcome.code == 0);
    const std::vector<std::string> lines = lines_of(outcome.out);
    REQUIRE(lines.size() == 3);
    CHECK(lines[1].substr(0, 2) == "/ ");
    CHECK(lines[2].substr(0, 3) == "b/ ");
    const auto all = nlohmann::json::parse(run(good(), {"--folders=0", "--json"}).out)["folders"];
    REQUIRE(all.size() == 1);
    CHECK(all[0]["tensors"] == 4);
    CHECK(all[0]["elements"] == 8);
    CHECK(all[0]["nbytes"] == 32);
    CHECK(all[0]["min"] == -4);
    CHECK(all[0]["max"] == 9);
    CHECK(std::abs(all[0]["mean"].get<double>() - 2.75) < 1e-12);
    const auto patterned = nlohmann::json::parse(run(good(), {"b.2.w", "--folders=5", "--json"}).out)["folders"];
    REQUIRE(patterned.size() == 3);
    CHECK(patterned[0]["elements"] == 4);
    CHECK(run(good(), {"--folders=x"}).code == 2);
    CHECK(run(good(), {"--folders=-1"}).code == 2);
}

TEST_CASE("stats --check: good models pass") {
    const Outcome outcome = run(good(), {"--check"});
    CHECK(outcome.code == 0);
    CHECK(outcome.out == "m.safetensors: OK\n");
}

TEST_CASE("stats --check: names what is wrong, with the reason, and exits with 1") {
    std::vector<Sample> bad = good();
    bad.push_back({"c", "F32", {3}, floats({1, nan_float, -std::numeric_limits<float>::infinity()})});
    bad.push_back({"d", "F32", {2}, floats({0, -0.0F})});
    bad.push_back({"e\n", "U8", {3}, "aaa"});
    const Outcome outcome = run(bad, {"--check"});
    CHECK(outcome.code == 1);
    CHECK(outcome.out ==
          "c: 1 NaN, 1 infinity of 3\n"
          "d: all 2 elements are 0\n"
          "e\\n: all 3 elements are 97\n");
    CHECK(run(bad, {"--check", "b.*"}).code == 0);
    CHECK(run(bad, {}).code == 0);

    const Outcome json = run(bad, {"--check", "--json"});
    CHECK(json.code == 1);
    const auto tensors = nlohmann::json::parse(json.out)["tensors"];
    CHECK(tensors[0]["trouble"].is_null());
    CHECK(tensors[3]["trouble"] == "1 NaN, 1 infinity of 3");
    CHECK(tensors[3]["nan"] == 1);
    CHECK(tensors[3]["negative_inf"] == 1);
}

TEST_CASE("stats: bytes that cannot be read are an error that names the tensor") {
    const TemporaryFolder folder;
    CHECK(run_program({"stats", folder / "none"}).code == 3);
    write_file(folder / "m.safetensors", "nothing");
    CHECK(run_program({"stats", folder / "m.safetensors"}).code == 4);
}

TEST_CASE("show: says what it is, and shows it") {
    const Outcome outcome = run(good(), {"b.2.w"}, "show");
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "F32 [2,2], 4 elements, 16 bytes, in m.safetensors at "));
    CHECK(contains(outcome.out, "min -4   max 3   mean 0.5"));
    CHECK(contains(outcome.out, "each element of 2 x 2"));
    CHECK_FALSE(contains(outcome.out, "\x1b"));
    CHECK(contains(run(good(), {"b.2.w", "--color=always"}, "show").out, "\x1b[48;2;"));
    CHECK(contains(run(good(), {"none"}, "show").out, "no elements"));
    CHECK(run(good(), {"a"}, "show").code == 0);
    CHECK(run(good(), {"a", "--slice=0"}, "show").code == 2);
}

TEST_CASE("show: an unknown name is an error that says how to find the right one") {
    const Outcome outcome = run(good(), {"b.3.w"}, "show");
    CHECK(outcome.code == 3);
    CHECK(contains(outcome.err, "there is no tensor \"b.3.w\""));
    CHECK(contains(outcome.err, "tensorfs ls"));
}

TEST_CASE("show --png: replaces the file, or leaves nothing behind") {
    const TemporaryFolder folder;
    write_file(folder / "x.png", "old");
    CHECK(run(good(), {"b.2.w", "--png", folder / "x.png"}, "show").code == 0);
    CHECK(read_file(folder / "x.png").substr(1, 3) == "PNG");
    CHECK(run(good(), {"b.2.w", "--png", folder / "none/x.png"}, "show").code == 10);
    std::filesystem::create_directory(folder / "taken");
    CHECK(run(good(), {"b.2.w", "--png", folder / "taken"}, "show").code == 10);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
    CHECK(files == 2);
}
