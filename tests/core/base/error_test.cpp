#include "core/base/error.hpp"

#include <cerrno>

#include "tests/support/expect.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

TEST_CASE("the reference implementation's errors keep its names") {
    CHECK(to_string(Kind::HeaderTooSmall) == "HeaderTooSmall");
    CHECK(to_string(Kind::HeaderTooLarge) == "HeaderTooLarge");
    CHECK(to_string(Kind::InvalidHeaderLength) == "InvalidHeaderLength");
    CHECK(to_string(Kind::InvalidHeader) == "InvalidHeader");
    CHECK(to_string(Kind::InvalidHeaderDeserialization) == "InvalidHeaderDeserialization");
    CHECK(to_string(Kind::InvalidOffset) == "InvalidOffset");
    CHECK(to_string(Kind::ValidationOverflow) == "ValidationOverflow");
    CHECK(to_string(Kind::MisalignedSlice) == "MisalignedSlice");
    CHECK(to_string(Kind::TensorInvalidInfo) == "TensorInvalidInfo");
    CHECK(to_string(Kind::MetadataIncompleteBuffer) == "MetadataIncompleteBuffer");
}

TEST_CASE("our own kinds of error have names that scripts can match") {
    CHECK(to_string(Kind::DuplicateName) == "DuplicateName");
    CHECK(to_string(Kind::InvalidIndex) == "InvalidIndex");
    CHECK(to_string(Kind::InvalidShardPath) == "InvalidShardPath");
    CHECK(to_string(Kind::MissingShard) == "MissingShard");
    CHECK(to_string(Kind::MissingTensor) == "MissingTensor");
    CHECK(to_string(Kind::NotRegularFile) == "NotRegularFile");
    CHECK(to_string(Kind::NoSuchSource) == "NoSuchSource");
    CHECK(to_string(Kind::NotAModel) == "NotAModel");
    CHECK(to_string(Kind::AmbiguousSource) == "AmbiguousSource");
    CHECK(to_string(Kind::SystemError) == "SystemError");
    CHECK(to_string(Kind::InvalidArchive) == "InvalidArchive");
    CHECK(to_string(Kind::CompressedMember) == "CompressedMember");
    CHECK(to_string(Kind::InvalidArrayHeader) == "InvalidArrayHeader");
    CHECK(to_string(Kind::UnsupportedDtype) == "UnsupportedDtype");
    CHECK(to_string(Kind::InvalidPickle) == "InvalidPickle");
    CHECK(to_string(Kind::MissingStorage) == "MissingStorage");
    CHECK(to_string(Kind::StorageOutOfBounds) == "StorageOutOfBounds");
    CHECK(to_string(Kind::BigEndian) == "BigEndian");
}

TEST_CASE("a problem is told in one line: path, kind, tensor, what is wrong") {
    CHECK(to_string(Problem{Kind::InvalidOffset, "m/a.safetensors", "x.weight", "it begins at byte 4"}) ==
          "m/a.safetensors: InvalidOffset: tensor \"x.weight\": it begins at byte 4");
    CHECK(to_string(Problem{Kind::HeaderTooSmall, "a.safetensors", "", "the file is empty"}) ==
          "a.safetensors: HeaderTooSmall: the file is empty");
}

TEST_CASE("a problem's line escapes path, tensor and text alike") {
    const std::string line = to_string(Problem{Kind::InvalidOffset, "m\n1", "\x1B[31m", "a\rb"});
    CHECK(line == "m\\n1: InvalidOffset: tensor \"\\x1B[31m\": a\\rb");
}

TEST_CASE("an error tells all its problems, a line each, in order") {
    const Error error({{Kind::MissingShard, "a", "", "one"}, {Kind::InvalidIndex, "b", "", "two"}});
    REQUIRE(error.problems().size() == 2);
    CHECK(error.problems()[1].path == "b");
    CHECK(std::string(error.what()) == "a: MissingShard: one\nb: InvalidIndex: two");
    CHECK(std::string(Error(Problem{Kind::NotAModel, "c", "", "three"}).what()) == "c: NotAModel: three");
}

TEST_CASE("what the system refused is told with what was tried and why") {
    const Problem problem = system_problem("m/a", "cannot open it", EACCES);
    CHECK(problem.kind == Kind::SystemError);
    CHECK(problem.path == "m/a");
    CHECK(problem.tensor.empty());
    CHECK(problem.text == "cannot open it: Permission denied");
}
