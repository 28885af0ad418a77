#include "core/formats/seems.hpp"

#include <utility>

#include "tests/support/expect.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

std::string seeming(std::string_view bytes) {
    const TemporaryFolder folder;
    write_file(folder / "file", bytes);
    return seems_to_be(Shard(folder / "file"));
}

}  // namespace

TEST_CASE("what a file seems to be is told by how it begins") {
    const std::string rest(2000, '\x01');
    const std::vector<std::pair<std::string, std::string>> files{
        {"\x80\x04\x95", "Python pickle"},
        {"\x1F\x8B\x08", "gzip"},
        {"\x28\xB5\x2F\xFD", "zstd"},
        {"BZh9", "bzip2"},
        {std::string("\xFD\x37zXZ\x00", 6), "xz"},
        {"7z\xBC\xAF\x27\x1C", "7z"},
        {"Rar!\x1A\x07", "RAR"},
        {std::string(257, 'n') + "ustar", "tar"},
        {"<!DOCTYPE html><html>", "web page"},
        {"\n  <HTML lang=en>", "web page"},
        {"<?xml version='1.0'?><Error>", "XML"},
        {"version https://git-lfs.github.com/spec/v1\n", "git-lfs pointer"},
        {"\x89HDF\r\n\x1A\n", "HDF5"},
        {std::string("\x08\x07\x12\x07pytorch", 11), "ONNX"},
        {"PK\x03\x04", "zip archive"},
        {"PK\x05\x06", "empty zip"},
        {"GGUF", "GGUF"},
        {"FUGG", "big-endian GGUF"},
        {"tjgg", "before GGUF"},
        {"\x93NUMPY", "NumPy"},
        {"PYTORCH1", "preview of PyTorch"},
        {"abcdTFL3", "TensorFlow Lite"},
        {R"({"model_type": "llama")", "JSON"},
    };
    for (const auto& [beginning, meaning] : files) {
        INFO(meaning);
        CHECK(contains(seeming(beginning + rest), meaning));
    }
}

TEST_CASE("a short text is quoted, as what a server said instead of a file") {
    CHECK(contains(seeming("Entry not found\n"), "\"Entry not found\""));
    CHECK(contains(seeming(R"({"error":"Repository not found"})"), R"("{"error":"Repository not found"}")"));
    CHECK(contains(seeming("<html><body>403</body></html>"), "web page"));
}

TEST_CASE("a file that begins with nothing but zeros is a download that was not finished") {
    CHECK(contains(seeming(std::string(4096, '\0')), "download"));
}

TEST_CASE("of other bytes nothing is said") {
    CHECK(seeming("").empty());
    CHECK(seeming("\x01\x02\x03\x04").empty());
    CHECK(seeming(std::string(2000, '\xFE')).empty());
    CHECK(seeming("\x08\x07\x12\x07\x01\x01").empty());  // not ONNX: its producer is no text
}

TEST_CASE("verify says what a file seems to be before it says what is wrong with it, and escapes what it quotes") {
    const TemporaryFolder folder;
    write_file(folder / "m.safetensors", "Not found\x1B[2J here, ask again later");
    const Outcome escaped = run_program({"verify", folder / "m.safetensors"});
    CHECK(escaped.code == 1);
    CHECK_FALSE(contains(escaped.out, "\x1B"));
    write_file(folder / "m.safetensors", "Entry not found");
    const Outcome outcome = run_program({"verify", folder / "m.safetensors"});
    CHECK(outcome.code == 1);
    CHECK(contains(outcome.out, "HeaderTooLarge: this is the text \"Entry not found\""));
    write_file(folder / "gz.safetensors", "\x1F\x8B\x08" + std::string(100, '\x07'));
    CHECK(contains(run_program({"verify", folder / "gz.safetensors"}).out, "gzip file"));
}
