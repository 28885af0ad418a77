#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"
#include "fs/command_line/help.hpp"
#include "fs/command_line/run_verb.hpp"
#include "fs/commands/verbs.hpp"
#include "fs/serving/fuse.hpp"
#include "fs/terminal/failure.hpp"
#include "fs/terminal/terminal.hpp"

namespace {

using namespace tensorfs;

/// Each shard takes a descriptor while it is in use. The usual limit of 1,024 is for programs that call select(2).
void allow_many_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);  // if that fails, the loader makes do with fewer
}

/// Opens what was closed of the standard streams, so that nothing else takes their place and is written over, a shard
/// even. Reading or writing what is opened there fails.
void fill_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
            // The lowest number is taken: just this one. It stays open to the end.
            static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
        }
    }
}

ExitCode run(std::vector<std::string> arguments) {
    if (arguments.empty()) {
        complain("SOURCE and MOUNTPOINT are missing (try `tensorfs --help`)");
        return ExitCode::usage;
    }
    const std::string& first = arguments.front();
    if (first == "-h" || first == "--help" || (first == "help" && arguments.size() == 1)) {
        print(help(verbs()));
        return ExitCode::ok;
    }
    if (first == "-V" || first == "--version") {
        print(fmt::format("tensorfs {}\nlibfuse {}\n", TENSORFS_VERSION, fuse_pkgversion()));
        return ExitCode::ok;
    }
    const auto all = verbs();
    const auto verb = std::find_if(all.begin(), all.end(), [&](const Verb* v) { return v->name == first; });
    if (verb == all.end()) {
        if (arguments.size() == 1 && !first.starts_with('-')) {
            complain(fmt::format("\"{}\" is no verb, and to mount it, MOUNTPOINT is missing (try `tensorfs --help`)",
                                 printable(first)));
            return ExitCode::usage;
        }
        return run_verb(mount_verb, arguments);
    }
    arguments.erase(arguments.begin());
    return run_verb(**verb, arguments);
}

}  // namespace

int main(int argc, char** argv) {
    fill_standard_streams();
    allow_many_files();
    ExitCode code = ExitCode::internal;
    try {
        code = run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
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
