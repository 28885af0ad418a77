#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <new>

#include "core/error.hpp"
#include "fs/commands/commands.hpp"
#include "fs/fuse.hpp"
#include "fs/terminal.hpp"

namespace {

using namespace tensorfs;

/// Each shard takes a descriptor while it is in use, and the usual limit of 1,024 is for programs
/// that call select(2).
void allow_many_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);  // if it cannot be had, the loader does with less
}

ExitCode run(Arguments arguments) {
    if (arguments.empty()) {
        complain("SOURCE and MOUNTPOINT are missing (try `tensorfs --help`)");
        return ExitCode::usage;
    }
    const std::string& first = arguments.front();
    if (first == "-h" || first == "--help") {
        print(help());
        return ExitCode::ok;
    }
    if (first == "-V" || first == "--version") {
        print(fmt::format("tensorfs {}\nlibfuse {}\n", TENSORFS_VERSION, fuse_pkgversion()));
        return ExitCode::ok;
    }
    const auto verbs = commands();
    const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const Command& c) { return c.name == first; });
    if (verb == verbs.end()) return run_mount(arguments);
    arguments.erase(arguments.begin());
    return verb->run(arguments);
}

}  // namespace

int main(int argc, char** argv) {
    allow_many_files();
    ExitCode code = ExitCode::internal;
    try {
        code = run(Arguments(argv + std::min(argc, 1), argv + argc));
    } catch (const Error& e) {
        code = report(e);
    } catch (const Failure& e) {
        complain(e.what());
        code = e.code();
    } catch (const std::bad_alloc&) {
        complain("there is not enough memory");
    } catch (const std::exception& e) {
        complain(e.what());
    }
    return static_cast<int>(code);
}
