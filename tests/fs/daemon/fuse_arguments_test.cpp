#include "fs/daemon/fuse_arguments.hpp"

#include "fs/options/option_list.hpp"
#include "tests/support/expect.hpp"

using namespace tensorfs;
using namespace tensorfs::tests;

namespace {

/// The options of -o as libfuse sees them when it has cut the list.
std::vector<std::string> seen_by_libfuse(const MountOptions& options) {
    FuseArguments arguments(options);
    std::vector<std::string> seen;
    const auto add = [](void* to, const char* option, int, fuse_args*) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(option);
        return 0;
    };
    const fuse_opt none = FUSE_OPT_END;
    REQUIRE(fuse_opt_parse(arguments.get(), &seen, &none, add) == 0);
    return seen;
}

bool has(const std::vector<std::string>& options, const std::string& wanted) {
    return std::find(options.begin(), options.end(), wanted) != options.end();
}

}  // namespace

TEST_CASE("libfuse sees each option as one, whatever its value holds") {
    MountOptions options;
    options.shown_source = "/my, model\\1";
    apply_option_list(options, "context=\"u:r:x:s0:c1,c2\",rootcontext=a");
    const std::vector<std::string> seen = seen_by_libfuse(options);
    CHECK(has(seen, "context=\"u:r:x:s0:c1,c2\""));
    CHECK(has(seen, "rootcontext=a"));
    CHECK(has(seen, "fsname=/my, model\\1"));
}

TEST_CASE("the source shown is what fsname= says, where it is given") {
    MountOptions options;
    options.shown_source = "org/name";
    CHECK(has(seen_by_libfuse(options), "fsname=org/name"));
    apply_option_list(options, "fsname=mine");
    CHECK(has(seen_by_libfuse(options), "fsname=mine"));
    CHECK_FALSE(has(seen_by_libfuse(options), "fsname=org/name"));
}
