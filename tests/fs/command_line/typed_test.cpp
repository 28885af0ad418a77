#include "fs/command_line/typed.hpp"

#include <array>
#include <stdexcept>

#include "fs/terminal/failure.hpp"
#include "tests/support/expect.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

constexpr std::array arguments{
    Argument{.value = {"SOURCE", Completes::source}, .help = ""},
    Argument{.value = {"PATTERN", Completes::pattern}, .help = "", .is_required = false, .is_repeated = true},
};

constexpr std::array flags{
    Flag{.name = "--all", .letter = "-a", .help = "", .manual = ""},
    Flag{.name = "--few", .help = "", .manual = "", .excludes = "--all"},
    Flag{.name = "--form", .value = {.name = "FORM", .choices = "long|short"}, .help = "", .manual = ""},
    Flag{.name = "--with", .value = {.name = "WORD"}, .help = "", .manual = "", .is_repeated = true},
};

constexpr Verb verb{
    .name = "try",
    .summary = "",
    .manual = "",
    .arguments = arguments,
    .flags = flags,
    .takes = is_of_source,
    .run = [](const Typed&) { return ExitCode::ok; },
};

Typed typed(const std::vector<std::string>& words) { return Typed::parse(verb, words).value(); }

/// What is said about words that are refused as wrong usage; "" if they are not.
std::string refusal(const std::vector<std::string>& words) {
    try {
        Typed::parse(verb, words);
    } catch (const Failure& e) {
        CHECK(e.code() == ExitCode::usage);
        return e.what();
    }
    return {};
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("what was typed is found by the names in the verb's table") {
    const Typed all = typed({"model", "a*", "-o", "partial", "b*", "-a", "--form", "short", "-o", "index=x"});
    CHECK(all.source() == "model");
    CHECK(all.values("PATTERN") == Texts{"a*", "b*"});
    CHECK(all.has("--all"));
    CHECK_FALSE(all.has("--few"));
    CHECK(all.value("--form") == "short");
    CHECK(all.option_lists() == Texts{"partial", "index=x"});

    const Typed least = typed({"model"});
    CHECK(least.values("PATTERN").empty());
    CHECK(least.value("--form").empty());
    CHECK(least.option_lists().empty());
    CHECK_FALSE(typed({"model", "--all=false"}).has("--all"));
    CHECK(typed({"--", "-a"}).source() == "-a");
}

TEST_CASE("to ask for a name that the verb's table does not have is an error") {
    CHECK_THROWS_AS(typed({"model"}).has("--none"), std::out_of_range);
}

TEST_CASE("words that do not fit the verb's table are refused, and help says what does") {
    CHECK(contains(refusal({}), "SOURCE is required (try `tensorfs try --help`)"));
    CHECK(contains(refusal({"model", "--all", "--few"}), "excludes"));
    CHECK(contains(refusal({"model", "--bogus"}), "--bogus"));
    CHECK_FALSE(refusal({"model", "--form"}).empty());
    CHECK_FALSE(refusal({"model", "--form", "long", "--form", "short"}).empty());
    CHECK(refusal({"model", "--form", "\x1B[31m"}) == "--form \"\\x1B[31m\" is not one of long and short");
    for (const char* help : {"-h", "--help"}) CHECK_FALSE(Typed::parse(verb, {help}).has_value());
}

TEST_CASE("a verb's usage is made of its table") {
    CHECK(usage(verb) == "SOURCE [PATTERN...] [-a|--few] [--form long|short] [--with WORD]... [-o LIST]");
}

TEST_CASE("a flag is given several times where its row says so") {
    CHECK(typed({"model", "--with", "a", "--with=b"}).values("--with") == Texts{"a", "b"});
    CHECK(contains(refusal({"model", "--form", "long", "--form", "short"}), "--form"));
}

TEST_CASE("a flag can be required, and lists can have another letter where -o is taken") {
    static constexpr std::array own{
        Flag{.name = "--output",
             .letter = "-o",
             .value = {.name = "TARGET"},
             .help = "",
             .manual = "",
             .is_required = true},
    };
    static constexpr Verb other{
        .name = "other",
        .summary = "",
        .manual = "",
        .arguments = arguments,
        .flags = own,
        .takes = is_of_source,
        .list_flag = "-O",
        .run = [](const Typed&) { return ExitCode::ok; },
    };
    const Typed all = Typed::parse(other, {"model", "-O", "partial", "-o", "out", "-Oindex=x"}).value();
    CHECK(all.value("--output") == "out");
    CHECK(all.option_lists() == Texts{"partial", "index=x"});
    CHECK(usage(other) == "SOURCE [PATTERN...] -o TARGET [-O LIST]");
    CHECK_THROWS_AS(Typed::parse(other, {"model"}), Failure);
}
