// `tensorfs cat`: tensors without a mount.

#include <cstring>
#include <filesystem>
#include <set>

#include "core/views/npy.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

constexpr std::size_t rows = 3000;
constexpr std::size_t columns = 1000;  // together more than what is read at a time

struct Written {
    TemporaryFolder folder;
    std::string big = sample_bytes(rows * columns * 2, 1);
    std::string path = folder / "m.safetensors";

    Written() {
        write_file(path, safetensors_file({{"big", "I16", {rows, columns}, big},
                                           {"bf", "BF16", {2, 2}, std::string("\x80\x3F\x00\x40\x40\x40\x80\xC0", 8)},
                                           {"f4", "F4", {4}, "\x21\x43"},
                                           {"none", "F32", {0, 3}, ""},
                                           {"scalar", "U8", {}, "\x07"}}));
    }

    [[nodiscard]] Outcome cat(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"cat", path});
        return run_program(arguments);
    }
    [[nodiscard]] std::string out(const std::vector<std::string>& arguments) const {
        const Outcome outcome = cat(arguments);
        CHECK(outcome.code == 0);
        CHECK(outcome.err.empty());
        return outcome.out;
    }
};

template <typename Number>
std::string bytes_of(const std::vector<Number>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

const std::vector<std::uint64_t> four{4};
const std::vector<std::uint64_t> square{2, 2};

}  // namespace

TEST_CASE("cat writes a tensor's bytes as they lie in the shard, unless it is told otherwise") {
    const Written model;
    CHECK((model.out({"big"}) == model.big));
    CHECK(model.out({"bf", "--format", "raw"}).size() == 8);
    CHECK(model.out({"none"}).empty());
}

TEST_CASE("cat writes NumPy arrays, as they are or widened") {
    const Written model;
    CHECK(model.out({"bf", "--format", "npy"}) ==
          npy_header("<u2", square) + std::string("\x80\x3F\x00\x40\x40\x40\x80\xC0", 8));
    CHECK(model.out({"bf", "--format", "f32"}) == npy_header("<f4", square) + bytes_of<float>({1, 2, 3, -4}));
    CHECK(model.out({"f4", "--format", "f32"}) == npy_header("<f4", four) + bytes_of<float>({0.5, 1, 1.5, 2}));
    CHECK(model.out({"scalar", "--format", "f32"}) == npy_header("|u1", {}) + "\x07");
}

TEST_CASE("cat writes slices, in every format") {
    const Written model;
    const auto row = [&](std::size_t i) { return model.big.substr(i * columns * 2, columns * 2); };
    CHECK((model.out({"big", "--slice=-1"}) == row(rows - 1)));
    CHECK((model.out({"big", "--slice", "5:7,:"}) == row(5) + row(6)));
    CHECK((model.out({"big", "--slice", "1:"}) == model.big.substr(columns * 2)));
    std::string column;
    std::string every_third;
    for (std::size_t i = 0; i < rows; ++i) column += row(i).substr(14, 2);
    for (std::size_t i = 0; i < columns; i += 3) every_third += row(2).substr(i * 2, 2);
    CHECK((model.out({"big", "--slice", ":,7"}) == column));
    CHECK((model.out({"big", "--slice", "2,::3"}) == every_third));
    CHECK(model.out({"bf", "--format", "f32", "--slice", ":,1"}) ==
          npy_header("<f4", std::vector<std::uint64_t>{2}) + bytes_of<float>({2, -4}));
    CHECK(model.out({"f4", "--format", "text", "--slice", "1:3"}) == "[1.  1.5]\n");
}

TEST_CASE("a step as long as can be takes the first element, and reads no more") {
    const Written model;
    CHECK(model.out({"big", "--slice", "::9223372036854775807,0"}) == model.big.substr(0, 2));
    CHECK(model.out({"big", "--slice", "0,::4611686018427387904"}) == model.big.substr(0, 2));
    CHECK(model.out({"big", "--slice", ":,::999"}).size() == rows * 2 * 2);
}

TEST_CASE("a tensor is found by its name as ls shows it, where that cannot be typed") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{std::string("a\0\x1B", 3), "U8", {1}, "x"}}));
    CHECK(run_program({"cat", folder / "m.safetensors", "a\\x00\\x1B"}).out == "x");
}

TEST_CASE("whatever a tensor is called, the line that ls --names has for it is a name that cat takes") {
    const TemporaryFolder folder;
    const std::vector<std::string> names{"",        "plain",  "-o",   "--names", "-",       " a b ",
                                         "a\nb",    "a\\nb",  "a\tb", "a\\",     "\x1B[2J", std::string(1, '\0'),
                                         "a\\\\nb", "\u202E", "it's", "$(x)"};
    std::vector<Sample> tensors;
    for (const std::string& name : names) tensors.push_back({name, "U8", {name.size()}, name});
    write_file(folder / "m.safetensors", safetensors_file(tensors));

    const std::vector<std::string> lines = lines_of(run_program({"ls", folder / "m.safetensors", "--names"}).out);
    CHECK(lines.size() == names.size());
    std::set<std::string> found;
    for (const std::string& line : lines) {
        INFO(line);
        const Outcome outcome = run_program({"cat", folder / "m.safetensors", "--", line});
        CHECK(outcome.code == 0);
        found.insert(outcome.out);
    }
    CHECK(found == std::set<std::string>(names.begin(), names.end()));
    // And the name itself, where it is no other tensor's line.
    for (const char* name : {"a\nb", "a\tb", "a\\"}) {
        CHECK(run_program({"cat", folder / "m.safetensors", name}).out == name);
    }
}

TEST_CASE("of any shape, what is shown as text is shown at once, or it is said that it is too much") {
    const TemporaryFolder folder;
    const std::vector<std::uint64_t> deep(20'000, 1);
    const std::vector<std::uint64_t> many(22, 2);
    write_file(folder / "m.safetensors",
               safetensors_file({{"deep", "U8", deep, "x"}, {"many", "U8", many, std::string(1 << 22, 'x')}}));
    const auto text = [&](const std::string& name) {
        return run_program({"cat", folder / "m.safetensors", name, "--format", "text"});
    };
    CHECK(text("deep").code == 2);
    CHECK(contains(text("deep").err, "20000 dimensions cannot be shown"));
    CHECK(text("many").code == 2);
    write_file(folder / "wide.safetensors",
               safetensors_file(R"({"t":{"dtype":"U8","shape":[4294967296,2],"data_offsets":[0,8589934592]}})", ""));
    std::filesystem::resize_file(folder / "wide.safetensors",
                                 std::filesystem::file_size(folder / "wide.safetensors") + 8589934592U);
    CHECK(run_program({"cat", folder / "wide.safetensors", "t", "--slice", ":,1", "--format", "text"}).out ==
          "[0 0 0 ... 0 0 0]\n");
}

TEST_CASE("cat shows a tensor as NumPy prints an array, shortened if it is large") {
    const Written model;
    CHECK(model.out({"bf", "--format", "text"}) == "[[ 1.  2.]\n [ 3. -4.]]\n");
    CHECK(model.out({"scalar", "--format", "text"}) == "7\n");
    CHECK(model.out({"none", "--format", "text"}) == "[]\n");
    const std::string shown = model.out({"big", "--format", "text"});
    CHECK(lines_of(shown).size() < 20);
    std::int16_t last = 0;
    std::memcpy(&last, model.big.data() + model.big.size() - 2, 2);
    CHECK(shown.ends_with(std::to_string(last) + "]]\n"));
}

TEST_CASE("what cat cannot do is said, with an exit code of its kind") {
    const Written model;
    const Outcome unknown = model.cat({"x\x1B[2J"});
    CHECK(unknown.code == 3);
    CHECK(contains(unknown.err, R"(there is no tensor "x\x1B[2J")"));
    CHECK(model.cat({"bf", "--format", "pdf"}).code == 2);
    CHECK(model.cat({"bf", "--slice", "9"}).code == 2);
    CHECK(model.cat({}).code == 2);
    const Outcome packed = model.cat({"f4", "--slice", "1:3"});
    CHECK(packed.code == 2);
    CHECK(contains(packed.err, "F4 elements are no whole bytes"));
    CHECK(run_program({"cat", model.folder / "none", "x"}).code == 3);
}

TEST_CASE("cat says so when its output cannot be written") {
    const Written model;
    for (const char* format : {"raw", "text"}) {
        const Outcome outcome = run_program({"cat", model.path, "big", "--format", format}, "/dev/full");
        CHECK(outcome.code == 9);
        CHECK(contains(outcome.err, "cannot write"));
    }
}
