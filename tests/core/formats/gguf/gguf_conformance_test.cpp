#include <algorithm>
#include <array>
#include <filesystem>

#include "core/formats/gguf/gguf.hpp"
#include "core/views/views.hpp"
#include "tests/core/formats/gguf/gguf_verdicts.hpp"
#include "tests/support/contents.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/sha256.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// The corpus of good and bad GGUF files and splits, and four small models.

namespace {

bool is_to_be_accepted(const Json& verdict) { return verdict.at("expect") == "accept"; }

/// The verdicts over single files, or over splits.
std::vector<Json> cases_of(std::string_view what) {
    std::vector<Json> cases = verdicts_in("verdicts.jsonl");
    std::erase_if(cases, [&](const Json& verdict) { return !verdict.contains(what); });
    return cases;
}

/// What a verdict's reason begins with, and the kind of Error that says the same.
struct Reason {
    std::string_view begin;
    Kind kind;
};

constexpr std::array reasons{
    Reason{"the file ends inside the magic", Kind::HeaderTooSmall},
    Reason{"the file ends inside the version", Kind::HeaderTooSmall},
    Reason{"the file ends inside the key count", Kind::HeaderTooSmall},
    Reason{"the file ends inside the tensor count", Kind::HeaderTooSmall},
    Reason{"the file ends inside", Kind::InvalidHeaderLength},
    Reason{"the file is too short", Kind::InvalidHeaderLength},
    Reason{"a key runs past", Kind::InvalidHeaderLength},
    Reason{"a string value runs past", Kind::InvalidHeaderLength},
    Reason{"a tensor's name runs past", Kind::InvalidHeaderLength},
    Reason{"an array claims", Kind::InvalidHeaderLength},
    Reason{"the first four bytes", Kind::InvalidHeader},
    Reason{"the version is that of a big-endian file", Kind::BigEndian},
    Reason{"version ", Kind::UnsupportedVersion},
    Reason{"a key is empty", Kind::InvalidHeader},
    Reason{"a key stands twice", Kind::DuplicateKey},
    Reason{"value type", Kind::InvalidHeader},
    Reason{"array element type", Kind::InvalidHeader},
    Reason{"arrays are nested", Kind::InvalidHeader},
    Reason{"general.alignment", Kind::InvalidHeader},
    Reason{"a tensor's name is not UTF-8", Kind::TensorInvalidInfo},
    Reason{"a dim is negative", Kind::TensorInvalidInfo},
    Reason{"type ", Kind::UnsupportedDtype},
    Reason{"a row of", Kind::MisalignedSlice},
    Reason{"the product of the dims", Kind::ValidationOverflow},
    Reason{"the size in bytes", Kind::ValidationOverflow},
    Reason{"a tensor ends beyond", Kind::ValidationOverflow},
    Reason{"offset ", Kind::InvalidOffset},
    Reason{"two tensors overlap", Kind::InvalidOffset},
    Reason{"a tensor's name stands twice", Kind::DuplicateName},
    Reason{"the padding before the data", Kind::MetadataIncompleteBuffer},
    Reason{"a tensor's data runs past", Kind::MetadataIncompleteBuffer},
};

Kind kind_of(const std::string& why) {
    if (why.find("dims are more than") != std::string::npos) return Kind::TensorInvalidInfo;
    const auto* const found = std::find_if(reasons.begin(), reasons.end(),
                                           [&](const Reason& reason) { return why.starts_with(reason.begin); });
    REQUIRE(found != reasons.end());
    return found->kind;
}

/// The GGUF files of a folder as the parts of one model.
Source source_of_parts(const std::string& folder) {
    Component component;
    component.folder = folder;
    for (const auto& file : std::filesystem::directory_iterator(folder))
        component.shards.push_back(file.path().filename().string());
    std::sort(component.shards.begin(), component.shards.end());
    Source source;
    source.path = source.location = folder;
    source.components.push_back(std::move(component));
    return source;
}

/// What a header keeps of metadata of which `all` were read.
void check_kept(const Metadata& kept, const Metadata& all) {
    REQUIRE(kept.size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto* const text = std::get_if<std::string>(&all[i].second);
        const bool is_kept =
            !std::holds_alternative<JsonArray>(all[i].second) && (text == nullptr || text->size() <= longest_kept_text);
        CHECK(std::holds_alternative<NotKept>(kept[i].second) != is_kept);
        CHECK(kept[i].first == all[i].first);
        if (is_kept) CHECK(to_json(kept[i].second) == to_json(all[i].second));
    }
}

}  // namespace

TEST_CASE("the GGUF corpus is large, good and bad") {
    const std::vector<Json> cases = cases_of("file");
    if (cases.empty()) SKIP_TEST("the GGUF corpus is absent");
    const auto good = std::count_if(cases.begin(), cases.end(), is_to_be_accepted);
    CHECK(good >= 117);
    CHECK(static_cast<std::ptrdiff_t>(cases.size()) - good >= 159);
    CHECK(cases_of("folder").size() >= 14);
}

TEST_CASE("a GGUF file that is to be refused is refused, by the rule that the verdict gives") {
    const std::vector<Json> cases = cases_of("file");
    if (cases.empty()) SKIP_TEST("the GGUF corpus is absent");
    for (const Json& one : cases) {
        if (is_to_be_accepted(one)) continue;
        const std::string path = corpus_path("cases/" + one.at("file").get<std::string>());
        const auto problems = problems_of([&] { gguf::read_header(Shard(path)); });
        INFO(path << ": " << one.at("why"));
        REQUIRE(problems.size() == 1);
        CHECK(problems[0].kind != Kind::SystemError);
        // Which of several faults is met first is each reader's own affair, and mutations can have several.
        if (!one.at("file").get<std::string>().starts_with("mutation-"))
            CHECK(to_string(problems[0].kind) == to_string(kind_of(one.at("why"))));
        CHECK(problems[0].path == path);
        CHECK(!problems[0].text.empty());
    }
}

TEST_CASE("a GGUF file that is to be accepted is read as the verdict has it") {
    const std::vector<Json> cases = cases_of("file");
    if (cases.empty()) SKIP_TEST("the GGUF corpus is absent");
    for (const Json& one : cases) {
        if (!is_to_be_accepted(one)) continue;
        INFO(one.at("file"));
        const Shard shard(corpus_path("cases/" + one.at("file").get<std::string>()));
        Header header;
        const auto problems = problems_of([&] { header = gguf::read_header(shard); });
        CHECK(kinds(problems) == "");
        check_tensors(header.tensors, one);
        const Metadata all = gguf::read_metadata(shard, Keep::all);
        check_metadata(all, one);
        check_kept(header.metadata, all);
    }
}

TEST_CASE("a note tells of the GGUF files that llama.cpp would not load, and of no other") {
    const std::vector<Json> cases = cases_of("file");
    if (cases.empty()) SKIP_TEST("the GGUF corpus is absent");
    for (const Json& one : cases) {
        if (!is_to_be_accepted(one)) continue;
        INFO(one.at("file"));
        const Header header = gguf::read_header(Shard(corpus_path("cases/" + one.at("file").get<std::string>())));
        CHECK(header.notes.size() == (one.at("reference") == "accept" ? 0 : 1));
    }
}

TEST_CASE("a GGUF split is refused or read as the verdict has it") {
    const std::vector<Json> cases = cases_of("folder");
    if (cases.empty()) SKIP_TEST("the GGUF corpus is absent");
    for (const Json& one : cases) {
        INFO(one.at("folder"));
        const Source source = source_of_parts(corpus_path("cases/" + one.at("folder").get<std::string>()));
        if (!is_to_be_accepted(one)) {
            const auto problems = problems_of([&] { Model::load(source); });
            CHECK(!problems.empty());
            for (const Problem& problem : problems) CHECK(problem.kind != Kind::SystemError);
            continue;
        }
        const Model model = Model::load(source);
        REQUIRE(model.shards().size() == one.at("parts").size());
        for (std::uint32_t i = 0; i < model.shards().size(); ++i) {
            std::vector<Tensor> tensors = model.tensors();
            std::erase_if(tensors, [&](const Tensor& tensor) { return tensor.shard() != i; });
            check_tensors(tensors, one.at("parts")[i]);
            check_metadata(model.read_metadata(i, Keep::all), one.at("parts")[i]);
        }
    }
}

TEST_CASE("the bytes and the values of the GGUF corpus's models are those of their makers") {
    const std::vector<Json> models = verdicts_in("models/verdicts.jsonl");
    if (models.empty()) SKIP_TEST("the GGUF corpus is absent");
    for (const Json& one : models) {
        const bool is_split = one.contains("folder");
        const std::string path = corpus_path("models/" + one.at(is_split ? "folder" : "file").get<std::string>());
        INFO(path);
        Model model = is_split ? Model::load(source_of_parts(path)) : load(path);
        model.map();
        const Json parts = is_split ? one.at("parts") : Json::array({one});
        std::size_t seen = 0;
        for (const Json& part : parts) {
            for (const Json& expected : part.at("tensors")) {
                const Tensor* const tensor = find_tensor(model, expected.at("name").get<std::string>());
                REQUIRE(tensor != nullptr);
                INFO(tensor->name());
                CHECK(sha256(bytes_of(raw_view(*tensor), model.shards())) == expected.at("sha256"));
                std::string values = bytes_of(f32_view(*tensor), model.shards());
                values.erase(0, values.size() - 4 * tensor->elements());  // the header of the NumPy array
                CHECK(sha256(values) == expected.at("f32_sha256"));
                ++seen;
            }
        }
        CHECK(seen == model.tensors().size());
    }
}
