#include "fs/terminal/terminal.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/quantity_text.hpp"

#include "tests/support/catch.hpp"

using namespace tensorfs;

namespace {

ExitCode code_for(std::vector<Kind> kinds) {
    std::vector<Problem> problems;
    for (const Kind kind : kinds) problems.push_back({kind, "path", "", "text"});
    return report(Error(problems));
}

}  // namespace

TEST_CASE("exit codes are numbers that scripts rely on") {
    CHECK(static_cast<int>(ExitCode::ok) == 0);
    CHECK(static_cast<int>(ExitCode::bad) == 1);
    CHECK(static_cast<int>(ExitCode::usage) == 2);
    CHECK(static_cast<int>(ExitCode::no_source) == 3);
    CHECK(static_cast<int>(ExitCode::bad_source) == 4);
    CHECK(static_cast<int>(ExitCode::unreadable) == 5);
    CHECK(static_cast<int>(ExitCode::mountpoint) == 6);
    CHECK(static_cast<int>(ExitCode::no_fuse) == 7);
    CHECK(static_cast<int>(ExitCode::mount_failed) == 8);
    CHECK(static_cast<int>(ExitCode::internal) == 9);
}

TEST_CASE("what is counted is one of a kind or several") {
    CHECK(counted(0, "tensor") == "0 tensors");
    CHECK(counted(1, "tensor") == "1 tensor");
    CHECK(counted(12345, "tensor") == "12,345 tensors");
}

TEST_CASE("a source that is not there, one that is damaged and one that is not to be read differ in code") {
    for (const Kind kind : {Kind::NoSuchSource, Kind::NotAModel, Kind::AmbiguousSource}) {
        CHECK(code_for({kind}) == ExitCode::no_source);
    }
    for (const Kind kind : {Kind::HeaderTooSmall, Kind::InvalidHeader, Kind::InvalidOffset, Kind::DuplicateName,
                            Kind::InvalidIndex, Kind::InvalidShardPath, Kind::MissingShard, Kind::MissingTensor,
                            Kind::NotRegularFile, Kind::MetadataIncompleteBuffer}) {
        CHECK(code_for({kind}) == ExitCode::bad_source);
    }
    CHECK(code_for({Kind::SystemError}) == ExitCode::unreadable);
}

TEST_CASE("certain damage weighs more than what could not be looked at") {
    CHECK(code_for({Kind::SystemError, Kind::MissingShard}) == ExitCode::bad_source);
    CHECK(code_for({Kind::MissingShard, Kind::SystemError}) == ExitCode::bad_source);
    CHECK(code_for({Kind::SystemError, Kind::SystemError}) == ExitCode::unreadable);
}

TEST_CASE("a failure carries its code and its text") {
    const Failure failure(ExitCode::mountpoint, "it is busy");
    CHECK(failure.code() == ExitCode::mountpoint);
    CHECK(std::string(failure.what()) == "it is busy");
}

TEST_CASE("numbers have commas between thousands") {
    CHECK(with_commas(0) == "0");
    CHECK(with_commas(999) == "999");
    CHECK(with_commas(1000) == "1,000");
    CHECK(with_commas(123456) == "123,456");
    CHECK(with_commas(1234567) == "1,234,567");
    CHECK(with_commas(18446744073709551615U) == "18,446,744,073,709,551,615");
}

TEST_CASE("bytes for people are in powers of a thousand, to a tenth") {
    CHECK(human_bytes(0) == "0 bytes");
    CHECK(human_bytes(512) == "512 bytes");
    CHECK(human_bytes(999) == "999 bytes");
    CHECK(human_bytes(1000) == "1.0 kB");
    CHECK(human_bytes(16777216) == "16.8 MB");
    CHECK(human_bytes(999900) == "999.9 kB");
    CHECK(human_bytes(999999) == "1.0 MB");
    CHECK(human_bytes(1000000000) == "1.0 GB");
    CHECK(human_bytes(140000000000) == "140.0 GB");
    CHECK(human_bytes(999999999999) == "1.0 TB");
    CHECK(human_bytes(18446744073709551615U) == "18.4 EB");
}
