#include <algorithm>
#include <string>

#include "core/formats/gguf/gguf.hpp"
#include "tests/core/formats/gguf/gguf_file.hpp"
#include "tests/support/expect.hpp"
#include "tests/support/support.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

// A GGUF model in several files, each of which says which part it is.

namespace {

/// A part with one tensor.
std::string part(std::uint64_t number, std::uint64_t count, std::uint64_t tensors, const std::string& name = "") {
    return GgufFile()
        .split(number, count, tensors)
        .tensor(name.empty() ? "t" + std::to_string(number) : name, {4}, gguf_tensor_i8, 0)
        .bytes("abcd");
}

class Split {
public:
    Split& file(const std::string& name, std::string_view bytes) {
        write_file(folder_ / name, bytes);
        names_.push_back(name);
        return *this;
    }
    [[nodiscard]] Source source() const {
        Component component;
        component.folder = folder_.path().string();
        component.shards = names_;
        Source source;
        source.components.push_back(std::move(component));
        return source;
    }
    [[nodiscard]] std::vector<Problem> problems() const {
        return problems_of([&] { Model::load(source()); });
    }
    [[nodiscard]] std::string only_text() const {
        const auto all = problems();
        return all.size() == 1 ? std::string(to_string(all[0].kind)) + ": " + all[0].text : kinds(all);
    }

private:
    TemporaryFolder folder_;
    std::vector<std::string> names_;
};

}  // namespace

TEST_CASE("the parts of a GGUF split are one model") {
    Split split;
    split.file("m-00001-of-00002.gguf", part(0, 2, 2)).file("m-00002-of-00002.gguf", part(1, 2, 2));
    const Model model = Model::load(split.source());
    CHECK(model.tensors().size() == 2);
    CHECK(model.format_names() == "gguf");
}

TEST_CASE("a GGUF file that is no split may be called like one") {
    CHECK(Split().file("m-00001-of-00002.gguf", part(0, 1, 9)).problems().empty());
    CHECK(Split().file("m-00001-of-00002.gguf", part(0, 0, 9)).problems().empty());
    CHECK(Split().file("m-00001-of-00002.gguf", GgufFile().header()).problems().empty());
}

TEST_CASE("a part of a GGUF split that stands alone is refused") {
    CHECK(contains(Split().file("m.gguf", part(0, 3, 3)).only_text(),
                   "SplitMismatch: it is a part of a split of 3 files, but is not named as one"));
    CHECK(contains(Split().file("m-00001-of-00003.gguf", part(0, 3, 3)).only_text(),
                   "SplitMismatch: it is a part of a split of 3 files, of which 1 are here"));
}

TEST_CASE("parts of a GGUF split that do not belong together are refused") {
    const auto with_second = [](const std::string& bytes) {
        return Split().file("m-00001-of-00002.gguf", part(0, 2, 2)).file("m-00002-of-00002.gguf", bytes).only_text();
    };
    CHECK(with_second(part(0, 2, 2, "t1")) == "SplitMismatch: split.no is 0, but by its name it is 1");
    CHECK(with_second(part(1, 3, 2)) == "SplitMismatch: split.count is 3, but by its name there are 2 parts");
    CHECK(with_second(part(1, 2, 7)) == "SplitMismatch: split.tensors.count is 7, but the parts have 2 tensors");
    CHECK(with_second(GgufFile().header()) == "SplitMismatch: split.count is 0, but by its name there are 2 parts");
    CHECK(with_second(GgufFile().key("split.count", gguf_u16, little_endian(2, 2)).header()) ==
          "SplitMismatch SplitMismatch ");
}

TEST_CASE("where a part of a GGUF split is bad, that is said of it, and of the others nothing") {
    Split split;
    split.file("m-00001-of-00002.gguf", part(0, 2, 2)).file("m-00002-of-00002.gguf", "GGUF");
    CHECK(contains(split.only_text(), "HeaderTooSmall"));
    CHECK(Model::load(split.source(), OnProblem::leave_out).tensors().size() == 1);
}
