#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/formats/pytorch/pytorch.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/sha256.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// The corpus of checkpoints, good and bad, with what PyTorch makes of each. Nothing in them is to be run:
// those that try would make a file canary.tensorfs where the test runs.

namespace {

using Json = nlohmann::json;
using pytorch::Checkpoint;
using pytorch::Found;

struct Case {
    std::string path;
    Json verdict;
};

/// All cases; none where the corpus is absent.
std::vector<Case> all_cases() {
    std::vector<Case> cases;
    const auto corpus = test_data("conformance");
    if (!corpus || !std::filesystem::exists(*corpus / "pytorch")) return cases;
    std::istringstream lines(read_file(*corpus / "pytorch" / "verdicts.jsonl"));
    for (std::string line; std::getline(lines, line);) {
        Json verdict = Json::parse(line);
        const std::string path = *corpus / "pytorch" / "cases" / verdict.at("file").get<std::string>();
        cases.push_back({path, std::move(verdict)});
    }
    return cases;
}

/// What reading a file comes to: a checkpoint, or what is wrong with it.
struct Outcome {
    Checkpoint checkpoint;
    std::vector<Problem> problems;
};

Outcome read(const std::string& path) {
    Outcome outcome;
    outcome.problems = problems_of([&] { outcome.checkpoint = pytorch::read_checkpoint(Shard(path)); });
    if (outcome.problems.empty()) outcome.problems = outcome.checkpoint.problems;
    return outcome;
}

/// The elements' bytes in a row, gathered one by one.
std::string elements(const Checkpoint& checkpoint, const Found& tensor, const std::string& file) {
    if (tensor.nbytes == 0) return {};
    if (tensor.is_contiguous) return file.substr(tensor.offset, tensor.nbytes);
    const auto shape = checkpoint.shape(tensor);
    const auto strides = checkpoint.strides(tensor);
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) count *= size;
    const std::uint64_t width = tensor.nbytes / count;
    std::string bytes;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t rest = i, at = tensor.offset;
        for (std::size_t dim = shape.size(); dim-- > 0; rest /= shape[dim])
            at += rest % shape[dim] * strides[dim] * width;
        bytes += file.substr(at, width);
    }
    return bytes;
}

/// A tensor as the verdicts describe it.
Json described(const Checkpoint& checkpoint, const Found& tensor, const std::string& file) {
    const auto shape = checkpoint.shape(tensor);
    Json json{{"name", checkpoint.name(tensor)},
              {"dtype", to_string(tensor.dtype)},
              {"shape", std::vector<std::uint64_t>(shape.begin(), shape.end())},
              {"contiguous", tensor.is_contiguous},
              {"sha256", sha256(elements(checkpoint, tensor, file))}};
    if (tensor.is_contiguous && tensor.nbytes != 0) {
        json["begin"] = tensor.offset;
        json["end"] = tensor.offset + tensor.nbytes;
    }
    return json;
}

std::map<std::string, Json> by_name(const Json& verdict, const char* list) {
    std::map<std::string, Json> tensors;
    for (const Json& tensor : verdict.value(list, Json::array())) tensors[tensor.at("name")] = tensor;
    return tensors;
}

/// Whether all that is shown is what the verdict has, and, if `all`, that all of that is shown.
void check_tensors(const Case& one, const Checkpoint& checkpoint, bool all) {
    const std::string file = read_file(one.path);
    auto expected = by_name(one.verdict, "tensors");
    auto optional = by_name(one.verdict, "optional");
    for (const Found& tensor : checkpoint.tensors) {
        const Json shown = described(checkpoint, tensor, file);
        const std::string name = shown.at("name");
        INFO(name);
        if (const auto found = expected.find(name); found != expected.end()) {
            CHECK(shown == found->second);
            expected.erase(found);
        } else if (const auto other = optional.find(name); other != optional.end()) {
            CHECK(shown == other->second);
        } else {
            CHECK(one.verdict.value("more_allowed", false));
        }
    }
    if (all) {
        for (const auto& [name, tensor] : expected) {
            INFO(name);
            FAIL_CHECK("it is not shown");
        }
    }
}

}  // namespace

TEST_CASE("the corpus of checkpoints is large, good and bad") {
    const std::vector<Case> cases = all_cases();
    if (cases.empty()) SKIP_TEST("the conformance corpus is absent");
    const auto count = [&](const char* expect) {
        return std::count_if(cases.begin(), cases.end(),
                             [&](const Case& one) { return one.verdict.at("expect") == expect; });
    };
    CHECK(cases.size() >= 202);
    CHECK(count("accept") >= 90);
    CHECK(count("partial") >= 12);
    CHECK(count("reject") >= 50);
}

TEST_CASE(
    "a checkpoint is shown, shown in part or refused as the verdict says, and its tensors are where PyTorch finds "
    "them") {
    const std::vector<Case> cases = all_cases();
    if (cases.empty()) SKIP_TEST("the conformance corpus is absent");
    for (const Case& one : cases) {
        const std::string expect = one.verdict.at("expect");
        const std::string also = one.verdict.value("also", expect);
        INFO(one.path);
        const Outcome outcome = read(one.path);
        const bool is_refused = !outcome.problems.empty();
        INFO(kinds(outcome.problems));
        if (expect == "any") {
            // Not all of a file that has been changed at random has a verdict.
            if (!is_refused && one.verdict.contains("tensors")) check_tensors(one, outcome.checkpoint, false);
            continue;
        }
        CHECK(is_refused == (expect == "reject"));
        if (is_refused) continue;
        check_tensors(one, outcome.checkpoint, true);
        const std::string got = outcome.checkpoint.left_out.empty() ? "accept" : "partial";
        CHECK((got == expect || got == also));
    }
}

TEST_CASE("what of a checkpoint cannot be shown is said, tensor by tensor") {
    const std::vector<Case> cases = all_cases();
    if (cases.empty()) SKIP_TEST("the conformance corpus is absent");
    for (const Case& one : cases) {
        if (one.verdict.at("expect") != "partial") continue;
        INFO(one.path);
        std::multiset<std::string> named;
        std::size_t nameless = 0;
        for (const Json& tensor : one.verdict.at("left_out")) {
            tensor.at("name").is_null() ? static_cast<void>(++nameless)
                                        : static_cast<void>(named.insert(tensor.at("name")));
        }
        const Outcome outcome = read(one.path);
        std::size_t others = 0;
        for (const pytorch::LeftOut& left_out : outcome.checkpoint.left_out) {
            CHECK_FALSE(left_out.why.empty());
            const auto found = named.find(left_out.name);
            if (found == named.end()) {
                ++others;
            } else {
                named.erase(found);
            }
        }
        // What is too deep is named by the container at which the way ends.
        const bool is_deep = one.verdict.at("file") == "deep-100.pt";
        CHECK(named.size() == (is_deep ? 1 : 0));
        CHECK(others == (is_deep ? 1 : nameless));
    }
}

TEST_CASE("reading a checkpoint runs nothing of it, and takes no time") {
    const std::vector<Case> cases = all_cases();
    if (cases.empty()) SKIP_TEST("the conformance corpus is absent");
    const TemporaryFolder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    for (const Case& one : cases) {
        INFO(one.path);
        const auto begin = std::chrono::steady_clock::now();
        read(one.path);
        CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
    }
    std::filesystem::current_path(before);
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("what a hostile checkpoint would call is named") {
    if (all_cases().empty()) SKIP_TEST("the conformance corpus is absent");
    const std::map<std::string, std::vector<std::string>> calls{
        {"hostile-reduce.pt", {"os.system"}},
        {"hostile-posix.pt", {"posix.system"}},
        {"hostile-key.pt", {"os.system"}},
        {"hostile-build.pt", {"models.X", "os.system"}},
        {"hostile-legacy.pth", {"os.system"}},
        {"state-dict.pt", {}},
        {"quantised.pt", {}},
        {"rebuild-v3.pt", {}},
        {"keys-bytes.pt", {}},
    };
    for (const Case& one : all_cases()) {
        const auto expected = calls.find(one.verdict.at("file"));
        if (expected == calls.end()) continue;
        INFO(one.path);
        std::vector<std::string> called;
        for (const pytorch::Code& code : read(one.path).checkpoint.code) {
            if (code.is_called) called.push_back(code.name);
        }
        CHECK(called == expected->second);
    }
}
