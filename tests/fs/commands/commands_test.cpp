#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/expect.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// The program as a user or a script runs it, without FUSE.

namespace {

using Json = nlohmann::json;

/// Two shards and an index, three tensors of two dtypes.
void write_model(const TemporaryFolder& folder) {
    write_file(folder / "m/1.safetensors",
               safetensors_file({{"l.10.w", "F32", {2, 1}, "01234567"}, {"l.2.w", "BF16", {3}, "abcdef"}},
                                R"({"format":"pt","only":"here"})"));
    write_file(folder / "m/2.safetensors", safetensors_file({{"b", "F32", {}, "wxyz"}}, R"({"format":"pt"})"));
    write_file(folder / "m/model.safetensors.index.json",
               index_file({{"b", "2.safetensors"}, {"l.2.w", "1.safetensors"}, {"l.10.w", "1.safetensors"}}));
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("the version is told, with libfuse's") {
    const Outcome version = run_program({"--version"});
    CHECK(version.code == 0);
    CHECK(version.err.empty());
    const std::vector<std::string> lines = lines_of(version.out);
    REQUIRE(lines.size() == 2);
    CHECK(words_of(lines[0]).at(0) == "tensorfs");
    CHECK(words_of(lines[0]).at(1).find('.') != std::string::npos);
    CHECK(words_of(lines[1]).at(0) == "libfuse");
    CHECK(run_program({"-V"}).out == version.out);
}

TEST_CASE("a wrong command line exits with 2, a word on standard error and nothing else") {
    const TemporaryFolder folder;
    write_model(folder);
    const std::string source = folder / "m";
    for (const Words& arguments : std::vector<Words>{{},
                                                     {source},
                                                     {"ls"},
                                                     {"info"},
                                                     {"verify"},
                                                     {"mount"},
                                                     {"mount", source},
                                                     {"ls", source, source},
                                                     {"info", source, "more"},
                                                     {"ls", source, "--jsn"},
                                                     {"verify", source, "--json"},
                                                     {"--bogus"},
                                                     {source, source, source},
                                                     {source, source, "-o"},
                                                     {source, source, "-o", "bogus"},
                                                     {source, source, "-o", "uid=x"},
                                                     {"mount", source, source, "-o", "umask=9"}}) {
        INFO(Catch::Detail::stringify(arguments));
        const Outcome outcome = run_program(arguments);
        CHECK(outcome.code == 2);
        CHECK(outcome.out.empty());
        CHECK(outcome.err.substr(0, 10) == "tensorfs: ");
        CHECK(outcome.err.back() == '\n');
    }
}

TEST_CASE("ls has a line for each tensor: name, dtype, shape, bytes, in natural order") {
    const TemporaryFolder folder;
    write_model(folder);
    const Outcome outcome = run_program({"ls", folder / "m"});
    CHECK(outcome.code == 0);
    CHECK(outcome.err.empty());
    const std::vector<std::string> lines = lines_of(outcome.out);
    REQUIRE(lines.size() == 3);
    CHECK(words_of(lines[0]) == Words{"b", "F32", "[]", "4"});
    CHECK(words_of(lines[1]) == Words{"l.2.w", "BF16", "[3]", "6"});
    CHECK(words_of(lines[2]) == Words{"l.10.w", "F32", "[2,1]", "8"});
    CHECK(lines[0].size() == lines[1].size());
    CHECK(lines[1].size() == lines[2].size());
}

TEST_CASE("ls --json is an array of objects that say where the bytes are") {
    const TemporaryFolder folder;
    write_model(folder);
    const Outcome outcome = run_program({"ls", "--json", folder / "m"});
    CHECK(outcome.code == 0);
    const Json all = Json::parse(outcome.out);
    REQUIRE(all.size() == 3);
    CHECK(all[0].at("name") == "b");
    CHECK(all[1].at("name") == "l.2.w");
    CHECK(all[1].at("dtype") == "BF16");
    CHECK(all[1].at("shape") == Json::array({3}));
    CHECK(all[1].at("nbytes") == 6);
    CHECK(all[1].at("shard") == folder / "m/1.safetensors");
    const std::string shard = read_file(all[1].at("shard").get<std::string>());
    CHECK(shard.substr(all[1].at("offset"), 6) == "abcdef");
}

TEST_CASE("ls --names is a name a line, in natural order, and nothing else") {
    const TemporaryFolder folder;
    write_model(folder);
    const Outcome outcome = run_program({"ls", folder / "m", "--names"});
    CHECK(outcome.code == 0);
    CHECK(outcome.err.empty());
    CHECK(outcome.out == "b\nl.2.w\nl.10.w\n");
    CHECK(run_program({"ls", folder / "m", "--names", "--json"}).code == 2);
    CHECK(run_program({"ls", folder / "none", "--names"}).out.empty());
}

TEST_CASE("info sums up the model") {
    const TemporaryFolder folder;
    write_model(folder);
    const Outcome outcome = run_program({"info", folder / "m"});
    CHECK(outcome.code == 0);
    CHECK(outcome.err.empty());
    std::vector<Words> lines;
    for (const std::string& line : lines_of(outcome.out)) lines.push_back(words_of(line));
    for (const Words& expected :
         {Words{"source", folder / "m"}, Words{"shards", "2"}, Words{"tensors", "3"}, Words{"parameters", "6"},
          Words{"BF16", "1", "3", "6", "16"}, Words{"F32", "2", "3", "12", "32"}, Words{"format", "safetensors"},
          Words{"bits", "each", "24"}, Words{"format", "=", "pt"}}) {
        INFO(Catch::Detail::stringify(expected));
        CHECK(std::count(lines.begin(), lines.end(), expected) == 1);
    }
    CHECK(contains(outcome.out, "only = here"));
    CHECK(contains(outcome.out, "18 bytes"));
}

TEST_CASE("info counts what is wrong, and lists it") {
    const TemporaryFolder folder;
    write_model(folder);
    std::filesystem::remove(folder / "m/2.safetensors");
    const Outcome outcome = run_program({"info", folder / "m"});
    CHECK(outcome.code == 4);
    CHECK(contains(outcome.out,
                   "\nleft out, because of 1 problem\n  " + (folder / "m/2.safetensors") + ": MissingShard: "));
}

TEST_CASE("info --json tells the same to programs") {
    const TemporaryFolder folder;
    write_model(folder);
    const Json all = Json::parse(run_program({"info", folder / "m", "--json"}).out);
    CHECK(all.at("source") == folder / "m");
    CHECK(all.at("tensors") == 3);
    CHECK(all.at("parameters") == 6);
    CHECK(all.at("nbytes") == 18);
    CHECK(all.at("dtypes").at("F32") == Json{{"tensors", 2}, {"parameters", 3}, {"nbytes", 12}});
    REQUIRE(all.at("shards").size() == 2);
    CHECK(all.at("shards")[0].at("name") == "1.safetensors");
    CHECK(all.at("shards")[0].at("nbytes") == read_file(folder / "m/1.safetensors").size());
    CHECK(all.at("metadata").at("1.safetensors").at("only") == "here");
    CHECK(all.at("notes").empty());
}

TEST_CASE("a folder, its index and a shard of it are sources") {
    const TemporaryFolder folder;
    write_model(folder);
    CHECK(lines_of(run_program({"ls", folder / "m/model.safetensors.index.json"}).out).size() == 3);
    CHECK(lines_of(run_program({"ls", folder / "m/1.safetensors"}).out).size() == 2);
    CHECK(lines_of(run_program({"ls", folder / "m/"}).out).size() == 3);
}

TEST_CASE("verify has OK for what is good, and a line for each thing wrong, as each source was typed") {
    const TemporaryFolder folder;
    write_model(folder);
    write_file(folder / "b/i.json", index_file({{"a", "1.safetensors"}, {"b", "2.safetensors"}}));
    write_file(folder / "b/2.safetensors", "short");
    const std::string good = folder / "m/../m/";
    const Outcome outcome = run_program({"verify", good, folder / "b/i.json", folder / "none", good});
    CHECK(outcome.code == 1);
    CHECK(outcome.err.empty());
    const std::vector<std::string> lines = lines_of(outcome.out);
    REQUIRE(lines.size() == 5);
    CHECK(lines[0] == good + ": OK");
    CHECK(lines[1].starts_with(folder / "b/1.safetensors: MissingShard: "));
    CHECK(lines[2].starts_with(folder / "b/2.safetensors: HeaderTooSmall: "));
    CHECK(lines[3].starts_with(folder / "none: NoSuchSource: "));
    CHECK(lines[4] == good + ": OK");
    CHECK(run_program({"verify", good}).code == 0);
}

TEST_CASE("verify has a note for what is no fault, and it is no failure") {
    const TemporaryFolder folder;
    write_model(folder);
    write_file(folder / "m/model.safetensors.index.json",
               index_file({{"b", "2.safetensors"}, {"l.2.w", "1.safetensors"}}));
    const std::string index = folder / "m/model.safetensors.index.json";
    const Outcome outcome = run_program({"verify", index});
    CHECK(outcome.code == 0);
    const std::vector<std::string> lines = lines_of(outcome.out);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].starts_with(index + ": note: "));
    CHECK(lines[1] == index + ": OK");
}

TEST_CASE("a source that is not there, one that is bad and one that is unreadable have their codes") {
    const TemporaryFolder folder;
    write_file(folder / "bad.safetensors", "short");
    std::filesystem::create_directory(folder / "empty");
    std::filesystem::create_symlink("loop", folder / "loop");
    for (const std::string verb : {"ls", "info", "mount"}) {
        INFO(verb);
        const auto run = [&](const std::string& source) {
            Words arguments{verb, source};
            if (verb == "mount") arguments.insert(arguments.end(), {"-f", folder / "empty"});
            const Outcome outcome = run_program(arguments);
            CHECK(outcome.out.empty());
            CHECK(outcome.err.starts_with("tensorfs: " + source + ": "));
            return outcome.code;
        };
        CHECK(run(folder / "none") == 3);
        CHECK(run(folder / "empty") == 3);
        CHECK(run(folder / "bad.safetensors") == 4);
        CHECK(run("/dev/null") == 4);
        CHECK(run(folder / "loop") == 5);
    }
}

TEST_CASE("an answer that cannot be written is a failure") {
    const TemporaryFolder folder;
    write_model(folder);
    for (const Words& arguments : std::vector<Words>{{"ls", folder / "m"},
                                                     {"ls", "--json", folder / "m"},
                                                     {"info", folder / "m"},
                                                     {"verify", folder / "m"},
                                                     {"--help"}}) {
        const Outcome outcome = run_program(arguments, "/dev/full");
        CHECK(outcome.code == 9);
        CHECK(contains(outcome.err, "No space left on device"));
    }
}

TEST_CASE("a message that cannot be printed changes no exit code") {
    const TemporaryFolder folder;
    const auto code_of = [&](const std::string& arguments) {
        return std::system(("'" TENSORFS_PROGRAM "' " + arguments).c_str()) >> 8;
    };
    for (const std::string where : {"2>&-", "2>/dev/full"}) {
        CHECK(code_of("ls /nonexistent " + where) == 3);
        CHECK(code_of("--bogus " + where) == 2);
        CHECK(code_of("/nonexistent /nonexistent " + where) == 3);
    }
    write_model(folder);
    CHECK(code_of("ls '" + (folder / "m") + "' >&-") == 9);
    CHECK(code_of("ls '" + (folder / "m") + "' >&- 2>&-") == 9);
}

TEST_CASE("a word that is neither a verb nor two paths is answered with what is missing") {
    CHECK(run_program({"help"}).out == run_program({"--help"}).out);
    const Outcome unknown = run_program({"lss"});
    CHECK(unknown.code == 2);
    CHECK(unknown.err ==
          "tensorfs: \"lss\" is no verb, and to mount it, MOUNTPOINT is missing (try `tensorfs --help`)\n");
}

TEST_CASE("an option of mounting that a verb does not take is said to be one") {
    const Outcome result = run_program({"ls", "model", "-o", "cache=keep"});
    CHECK(result.code == 2);
    CHECK(result.err == "tensorfs: -o cache is for mounting only\n");
}
