// When there is nothing to mount: the message, the exit code, and nothing left behind.

#include <sys/stat.h>

#include "tests/support/catch.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

/// Where it all happens: a good source, some that are not, and a mount point.
struct Place {
    Place() {
        write_file(good(), safetensors_file({{"a", "U8", {1}, "x"}}));
        write_file(folder / "bad.safetensors", "nonsense");
        write_file(folder / "short.safetensors", read_file(good()).substr(0, 40));
        std::filesystem::create_directory(folder / "empty");
        write_file(folder / "incomplete/model.safetensors.index.json", index_file({{"a", "missing.safetensors"}}));
        ::mkfifo((folder / "fifo.safetensors").c_str(), 0600);
    }
    ~Place() { clear_mounts(std::filesystem::canonical(folder.path()).string()); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    [[nodiscard]] std::string good() const { return folder / "good.safetensors"; }

    TemporaryFolder folder;
    Adopter adopter;
    MountPoint at;
};

/// Checks that the arguments lead to this exit code and a message that holds `text`, in the
/// foreground and, since a command that daemonizes is to say so just the same, without -f.
void check_failure(const Place& place, std::vector<std::string> arguments, int code, const std::string& text) {
    arguments.insert(arguments.begin(), program());
    for (const bool foreground : {false, true}) {
        if (foreground) arguments.insert(arguments.begin() + 1, "-f");
        std::string line;
        for (const std::string& word : arguments) line += word + " ";
        INFO(line);
        const Result result = run(arguments);
        INFO(result.err);
        CHECK(result.code == code);
        CHECK(result.out.empty());
        CHECK(result.err.starts_with("tensorfs: "));
        CHECK(result.err.ends_with("\n"));
        CHECK(result.err.find(text) != std::string::npos);
        CHECK_FALSE(place.at.is_mounted());
        CHECK(Adopter::children().empty());
    }
}

}  // namespace

TEST_CASE("a source that is not there, or nothing that is read as a model, is exit code 3") {
    const Place place;
    check_failure(place, {place.folder / "none", place.at.path()}, 3, place.folder / "none");
    check_failure(place, {place.folder / "empty", place.at.path()}, 3, place.folder / "empty");
}

TEST_CASE("a damaged or incomplete source is exit code 4, and the message names file and fault") {
    const Place place;
    const std::string& at = place.at.path();
    check_failure(place, {place.folder / "bad.safetensors", at}, 4, "bad.safetensors: HeaderTooLarge: ");
    check_failure(place, {place.folder / "short.safetensors", at}, 4, "short.safetensors: InvalidHeaderLength: ");
    check_failure(place, {place.folder / "incomplete", at}, 4, "missing.safetensors: MissingShard: ");
    check_failure(place, {place.folder / "fifo.safetensors", at}, 4, "fifo.safetensors: NotRegularFile: ");
}

TEST_CASE("a mount point that is not there or no folder is exit code 6") {
    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const Place place;
    check_failure(place, {place.good(), place.folder / "none"}, 6, place.folder / "none");
    check_failure(place, {place.good(), place.good()}, 6, "not a folder");
}

TEST_CASE("a wrong command line is exit code 2") {
    const Place place;
    const std::string& at = place.at.path();
    check_failure(place, {place.good(), at, "-o", "nonsense"}, 2, "nonsense");
    check_failure(place, {place.good(), at, "-o", "uid=5,nonsense=1"}, 2, "nonsense=1");
    check_failure(place, {place.good(), at, "-o", "uid=me"}, 2, "uid");
    check_failure(place, {place.good(), at, "-o", "umask=9"}, 2, "umask");
    check_failure(place, {place.good(), at, "-o", "allow_other=1"}, 2, "allow_other");
    check_failure(place, {place.good(), at, "--nonsense"}, 2, "--nonsense");
    check_failure(place, {place.good(), at, "third"}, 2, "third");
    check_failure(place, {place.good()}, 2, "MOUNTPOINT");
}

TEST_CASE("an error's text is safe to print, whatever the source holds") {
    const Place place;
    const std::string source = place.folder / "a\x1b[31m\nb";
    const Result result = run({program(), source, place.at.path()});
    CHECK(result.code == 3);
    CHECK(result.err.find('\x1b') == std::string::npos);
    CHECK(result.err.find('\n') == result.err.size() - 1);
    CHECK(result.err.find(R"(\x1B[31m\nb)") != std::string::npos);
}
