#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/formats/safetensors/safetensors.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/program.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// The corpus of good and bad files, and what the reference implementation makes of each.

namespace {

using Json = nlohmann::json;

struct Case {
    std::string path;
    bool is_good;
    std::string kind;  // the error's name where the reference refuses the file; else ""
    Json verdict;
};

/// All cases; none where the corpus is absent.
std::vector<Case> all_cases() {
    std::vector<Case> cases;
    const auto corpus = test_data("conformance");
    if (!corpus) return cases;
    std::istringstream lines(read_file(*corpus / "verdicts.jsonl"));
    for (std::string line; std::getline(lines, line);) {
        Json verdict = Json::parse(line);
        const std::string reference = verdict.at("reference");
        cases.push_back({(*corpus / "cases" / verdict.at("file").get<std::string>()).string(),
                         verdict.at("expect") == "accept", reference == "accept" ? "" : reference, std::move(verdict)});
    }
    return cases;
}

/// A tensor as the verdicts describe it.
Json described(const Tensor& tensor) {
    return {{"name", tensor.name()},
            {"dtype", to_string(tensor.dtype())},
            {"shape", std::vector<std::uint64_t>(tensor.shape().begin(), tensor.shape().end())},
            {"begin", tensor.offset()},
            {"end", tensor.offset() + tensor.nbytes()}};
}

std::vector<std::string> paths_where(const std::vector<Case>& cases, bool is_good) {
    std::vector<std::string> paths;
    for (const Case& one : cases) {
        if (one.is_good == is_good) paths.push_back(one.path);
    }
    return paths;
}

std::vector<std::string> with_verb(std::vector<std::string> paths) {
    paths.insert(paths.begin(), "verify");
    return paths;
}

}  // namespace

TEST_CASE("the corpus is large, good and bad") {
    const std::vector<Case> cases = all_cases();
    if (cases.empty()) SKIP_TEST("the conformance corpus is absent");
    CHECK(cases.size() >= 473);
    CHECK(paths_where(cases, true).size() >= 150);
    CHECK(paths_where(cases, false).size() >= 300);
}

TEST_CASE("a file that is to be refused is refused, for the reference's reason") {
    const std::vector<Case> cases = all_cases();
    if (cases.empty()) SKIP_TEST("the conformance corpus is absent");
    for (const Case& one : cases) {
        if (one.is_good) continue;
        INFO(one.path);
        const auto problems = problems_of([&] { safetensors::read_header(Shard(one.path)); });
        CHECK(kinds(problems) == (one.kind.empty() ? "DuplicateName" : one.kind) + ' ');
    }
}

TEST_CASE("a file that is to be accepted is read as the reference reads it") {
    const std::vector<Case> cases = all_cases();
    if (cases.empty()) SKIP_TEST("the conformance corpus is absent");
    for (const Case& one : cases) {
        if (!one.is_good) continue;
        INFO(one.path);
        Header header;
        const auto problems = problems_of([&] { header = safetensors::read_header(Shard(one.path)); });
        CHECK(kinds(problems) == "");
        Json tensors = Json::array();
        for (const Tensor& tensor : header.tensors) tensors.push_back(described(tensor));
        const Json& expected = one.verdict.at("tensors");
        // Data order; tensors at one place, all but one of them empty, in any order.
        const auto place = [](const Json& tensor) { return std::pair(tensor.at("begin"), tensor.at("end")); };
        REQUIRE(tensors.size() == expected.size());
        for (std::size_t i = 0; i < tensors.size(); ++i) CHECK(place(tensors[i]) == place(expected[i]));
        CHECK(std::is_permutation(tensors.begin(), tensors.end(), expected.begin(), expected.end()));

        Json metadata = Json::object();
        for (const auto& [key, value] : header.metadata) metadata[key] = to_string(value);
        CHECK(metadata == one.verdict.at("metadata"));
        CHECK(header.metadata.size() == one.verdict.at("metadata").size());
    }
}

TEST_CASE("verify has a line for each file: its path and OK, or its path and what is wrong") {
    const std::vector<Case> cases = all_cases();
    if (cases.empty()) SKIP_TEST("the conformance corpus is absent");
    std::vector<std::string> paths;
    for (const Case& one : cases) paths.push_back(one.path);
    const Outcome outcome = run_program(with_verb(paths));
    CHECK(outcome.code == 1);
    CHECK(outcome.err.empty());
    const std::vector<std::string> lines = lines_of(outcome.out);
    REQUIRE(lines.size() == cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (cases[i].is_good) {
            CHECK(lines[i] == cases[i].path + ": OK");
        } else {
            const std::string begin =
                cases[i].path + ": " + (cases[i].kind.empty() ? "DuplicateName" : cases[i].kind) + ": ";
            INFO(lines[i]);
            CHECK(lines[i].substr(0, begin.size()) == begin);
            CHECK(lines[i].size() > begin.size());
        }
    }
}

TEST_CASE("verify exits 0 if all is good and 1 if one file is not") {
    const std::vector<Case> cases = all_cases();
    if (cases.empty()) SKIP_TEST("the conformance corpus is absent");
    const std::vector<std::string> good = paths_where(cases, true);
    const std::vector<std::string> bad = paths_where(cases, false);
    CHECK(run_program(with_verb(good)).code == 0);
    CHECK(run_program(with_verb(bad)).code == 1);
    CHECK(run_program({"verify", good.front(), bad.front(), good.back()}).code == 1);
}
