#include <filesystem>

#include "core/base/escape.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// Names and texts from a source can hold what a terminal obeys: none of it is ever printed as it is.

namespace {

/// The first byte in `text`, and what follows it, that a terminal would obey; "" if there is none.
std::string obeyed(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
        const bool is_c0 = (byte < 0x20 && byte != '\n') || byte == 0x7F;
        const bool is_c1 = byte == 0xC2 && next >= 0x80 && next < 0xA0;
        const bool is_bidi = text.compare(i, 3, "\u202E") == 0 || text.compare(i, 3, "\u2066") == 0;
        if (is_c0 || is_c1 || is_bidi) return printable(text.substr(i > 20 ? i - 20 : 0, 40));
    }
    return {};
}

/// What a program printed, all of which must be safe; and something must have been.
std::string safely(const std::vector<std::string>& arguments) {
    const Outcome outcome = run_program(arguments);
    INFO(printable(Catch::Detail::stringify(arguments)));
    CHECK(outcome.code < 128);
    CHECK(obeyed(outcome.out) == "");
    CHECK(obeyed(outcome.err) == "");
    CHECK(outcome.out.size() + outcome.err.size() > 0);
    return outcome.out + outcome.err;
}

// Clears the screen, ends the line, turns the text around: by C0, DEL, C1 and a bidirectional control.
const std::string evil = "x\x1B[2J\r\n\x7F\u009B31m\u202Ey";

}  // namespace

TEST_CASE("a tensor's name and metadata are printed escaped") {
    const TemporaryFolder folder;
    write_file(
        folder / "m.safetensors",
        safetensors_file({{evil, "U8", {1}, "x"}}, R"({"k\u001b[2J\u009b\u202e":"v\u001b[2J\n\u009b\u007f\u202e"})"));
    const std::string ls = safely({"ls", folder / "m.safetensors"});
    CHECK(lines_of(ls).size() == 1);
    CHECK(contains(ls, "x\\x1B[2J\\r\\n"));
    CHECK(contains(safely({"info", folder / "m.safetensors"}), "k\\x1B[2J"));
    safely({"verify", folder / "m.safetensors"});
    write_file(folder / "n.safetensors", safetensors_file({{evil + "n", "U8", {1}, "x"}, {evil, "U8", {1}, "y"}}));
    safely({"diff", folder / "m.safetensors", folder / "n.safetensors"});
    safely({"cat", folder / "m.safetensors", evil + "?"});
}

TEST_CASE("JSON on a terminal is as safe") {
    const TemporaryFolder folder;
    write_file(
        folder / "m.safetensors",
        safetensors_file({{evil, "U8", {1}, "x"}}, R"({"k\u001b[2J\u009b\u202e":"v\u001b[2J\n\u009b\u007f\u202e"})"));
    safely({"ls", "--json", folder / "m.safetensors"});
    safely({"info", "--json", folder / "m.safetensors"});
}

TEST_CASE("messages about a bad source are escaped") {
    const TemporaryFolder folder;
    const std::string path = folder / ("m" + evil + ".safetensors");
    const std::string name = R"("\u001b[2J\u009b\u202e")";
    for (const std::string& header : std::vector<std::string>{
             "{" + name + ":[\"U8\",[1],[1,2]]}", "{" + name + ":[\"U8\",[3],[0,2]]}", "{" + name + ":1}",
             R"({"a":[)" + name + ",[1],[0,2]]}", R"({"a":["U8",[)" + name + "],[0,2]]}", "{\"a\":\x1B}",
             R"({"__metadata__":{)" + name + ":1}}",
             "{" + name + ":[\"U8\",[2],[0,2]]," + name + ":[\"U8\",[2],[0,2]]}"}) {
        write_file(path, safetensors_file(header, "ab"));
        CHECK(lines_of(safely({"verify", path})).size() == 1);
        CHECK(lines_of(safely({"ls", path})).size() == 1);
    }
}

TEST_CASE("names of files and folders are escaped") {
    const TemporaryFolder folder;
    const std::string model = folder / ("m" + evil);
    std::filesystem::create_directory(model);
    safely({"verify", model});
    safely({"ls", model});
    write_file(model + "/" + evil + ".safetensors", safetensors_file({{"t", "U8", {1}, "x"}}, R"({"k":"v"})"));
    CHECK(lines_of(safely({"verify", model})).size() == 1);
    safely({"info", model});
    safely({"ls", "--json", model});
    safely({"info", "--json", model});
    write_file(model + "/a" + evil + ".safetensors.index.json", index_file({{"t", "../" + evil}, {"u", evil}}));
    write_file(model + "/b" + evil + ".safetensors.index.json", "{}");
    safely({"verify", model});
    safely({"verify", model + "/a" + evil + ".safetensors.index.json"});
}

TEST_CASE("names that an index has are escaped") {
    const TemporaryFolder folder;
    write_file(folder / "1.safetensors", safetensors_file({{"t", "U8", {1}, "x"}}));
    write_file(folder / "i.json", index_file({{evil, "1.safetensors"}, {"u" + evil, evil + ".safetensors"}}));
    CHECK(lines_of(safely({"verify", folder / "i.json"})).size() == 2);
}

TEST_CASE("what was typed is escaped in messages about it") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", safetensors_file({{"t", "U8", {1}, "x"}}));
    // As when a shell puts a file's name in the place of `*`.
    safely({"ls", folder / "m.safetensors", evil});
    safely({"info", folder / "m.safetensors", "--" + evil});
    safely({"ls", folder / evil});
    safely({"verify", folder / evil});
    safely({folder / "m.safetensors", folder.path().string(), evil});
    safely({folder / "m.safetensors", folder.path().string(), "-o", "uid=" + evil});
    safely({folder / "m.safetensors", folder.path().string(), "-o", evil});
    safely({"-f", folder / "m.safetensors", folder / ("none" + evil)});
}
