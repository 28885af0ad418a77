#include <algorithm>

#include "fs/commands/verbs.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/program.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// What the program says of itself. That the manual, README.md and the completions say the same is
// tested in tests/documents.

namespace {

/// Whether some line begins with this word, after blanks.
bool has_line(const std::string& text, std::string_view word) {
    const std::vector<std::string> lines = lines_of(text);
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
        const std::string_view rest = std::string_view(line).substr(std::min(line.find_first_not_of(' '), line.size()));
        return line.starts_with("  ") && rest.starts_with(word) &&
               (rest.size() == word.size() || rest[word.size()] == ' ');
    });
}

std::string help_of(std::string_view verb) {
    const Outcome outcome = run_program({std::string(verb), "--help"});
    CHECK(outcome.code == 0);
    CHECK(outcome.err.empty());
    CHECK(run_program({std::string(verb), "-h"}).out == outcome.out);
    return outcome.out;
}

}  // namespace

TEST_CASE("help fits a screen of 24 lines, names every verb and tells how to mount and unmount") {
    const Outcome help = run_program({"--help"});
    CHECK(help.code == 0);
    CHECK(help.err.empty());
    CHECK(lines_of(help.out).size() <= 24);
    for (const Verb* const verb : verbs()) {
        INFO(verb->name);
        CHECK(has_line(help.out, verb->name));
    }
    for (const char* text : {"SOURCE MOUNTPOINT", "-o", "fusermount3 -u", "tensorfs mount --help", "man tensorfs"}) {
        INFO(text);
        CHECK(contains(help.out, text));
    }
    CHECK(run_program({"-h"}).out == help.out);
}

TEST_CASE("no line of help is wider than a terminal of 80 columns, or ends in blanks") {
    std::vector<std::vector<std::string>> all{{"--help"}};
    for (const Verb* const verb : verbs()) all.push_back({std::string(verb->name), "--help"});
    for (const std::vector<std::string>& arguments : all) {
        for (const std::string& line : lines_of(run_program(arguments).out)) {
            INFO(line);
            CHECK(line.size() <= 80);
            CHECK_FALSE(line.ends_with(' '));
        }
    }
}

TEST_CASE("a verb's help names the options that the verb takes in a list, and no others") {
    const TemporaryFolder folder;
    for (const Verb* const verb : verbs()) {
        const std::string help = help_of(verb->name);
        INFO(help);
        CHECK(contains(help, "Usage: tensorfs " + std::string(verb->name) + ' '));
        CHECK(contains(help, verb->summary));
        CHECK(has_line(help, "SOURCE"));
        CHECK(has_line(help, "-h, --help"));
        for (const MountOption& option : mount_options()) {
            std::vector<std::string> arguments{std::string(verb->name), folder / "none"};
            if (contains("mount cat show diff", verb->name)) arguments.push_back(folder / "other");
            if (verb->name == "export") arguments.insert(arguments.end(), {"-o", folder / "other"});
            arguments.insert(arguments.end(), {std::string(verb->list_flag),
                                               std::string(option.name) + (option.value.name.empty() ? "" : "=1")});
            const bool is_taken = !contains(run_program(arguments).err, "is for mounting only");
            INFO(option.name);
            // A mount's whole list may be given to sum, stats and page; verify takes what is about the source, but
            // judges all of it.
            const bool is_of_use = contains("sum stats page", verb->name)
                                       ? option.is_of_source || option.name == "separators"
                                   : verb->name == "verify" ? option.is_of_source && option.name != "partial"
                                                            : is_taken;
            CHECK(has_line(help, spelling(option)) == is_of_use);
            CHECK((is_taken || !is_of_use));
        }
    }
}

TEST_CASE("help for mounting has a line for each option of the table, in 40 lines") {
    const std::string help = help_of("mount");
    const std::vector<std::string> lines = lines_of(help);
    CHECK(lines.size() <= 40);
    for (const MountOption& option : mount_options()) {
        INFO(option.name);
        const std::string start = "  " + spelling(option) + "  ";
        const auto line = std::find_if(lines.begin(), lines.end(), [&](const std::string& l) {
            return l.starts_with(start.substr(0, start.size() - 1)) && l.ends_with(option.help);
        });
        CHECK(line != lines.end());
    }
    for (const char* word : {"SOURCE", "MOUNTPOINT", "-f, --foreground", "-d, --debug", "-o LIST"}) {
        INFO(word);
        CHECK(has_line(help, word));
    }
    // Where the verb is left out, too.
    CHECK(run_program({"SOURCE", "MOUNTPOINT", "--help"}).out == help);
    CHECK(run_program({"-f", "-h"}).out == help);
}
