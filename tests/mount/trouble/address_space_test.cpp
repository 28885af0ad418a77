// Where address space is limited, as batch systems do with `ulimit -v`, a model that does not fit is read, not mapped.

#include <csignal>

#include "tests/support/catch.hpp"
#include "tests/support/clients.hpp"
#include "tests/support/mounted.hpp"

using namespace tensorfs::tests;

namespace {

constexpr std::uint64_t tensor_bytes = std::uint64_t{3} << 30;
constexpr const char* limit = "--as=536870912";  // the stacks of the threads need some, too

/// A sparse model of 3 GiB, whose last bytes are no zeros.
void write_sparse_model(const std::string& path) {
    const std::string end = std::to_string(tensor_bytes);
    write_file(path,
               safetensors_file(R"({"w":{"dtype":"U8","shape":[)" + end + R"(],"data_offsets":[0,)" + end + "]}}", ""));
    const std::uint64_t header = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, header + tensor_bytes - 4);
    std::FILE* file = std::fopen(path.c_str(), "ab");
    REQUIRE(file != nullptr);
    CHECK(std::fputs("abcd", file) >= 0);
    CHECK(std::fclose(file) == 0);
}

std::vector<std::string> limited(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"prlimit", limit, program()});
    return arguments;
}

}  // namespace

TEST_CASE("with too little address space to map the model, cat, verify and a mount read it") {
    const TemporaryFolder folder;
    const std::string source = folder / "model.safetensors";
    write_sparse_model(source);
    const Result cat = run_shell(R"(prlimit "$0" "$1" cat "$2" w | tail -c 6 | od -An -c)", {limit, program(), source});
    CHECK(cat.err.empty());
    CHECK(count_of("\\0  \\0   a   b   c   d", cat.out) == 1);
    CHECK(run(limited({"verify", source})).code == 0);

    if (const std::string why = cannot_mount(); !why.empty()) SKIP_TEST(why);
    const MountPoint at;
    Child daemon(limited({"-f", "-o", "log=warning", source, at.path()}));
    REQUIRE(eventually([&] { return daemon.ended() || std::filesystem::exists(at / "w"); }));
    const tensorfs::Descriptor tensor = open_direct(at / "w");
    CHECK(read_once(tensor, tensor_bytes - 4096, 4096).bytes == std::string(4092, '\0') + "abcd");
    CHECK(read_once(tensor, tensor_bytes / 2, 4096).bytes == std::string(4096, '\0'));
    CHECK(look_through_mapping(at / "w", tensor_bytes - 4, "abcd") == 0);
    daemon.signal(SIGTERM);
    CHECK(daemon.wait().code == 0);
    CHECK(daemon.errors().empty());
}
