#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/support.hpp"

namespace tensorfs::tests {

/// How a run of the program ended.
struct Outcome {
    int code;  // its exit code; 128 and the signal's number if one ended it
    std::string out;
    std::string err;
};

/// Runs the program with these arguments and nothing to read. Its standard output goes to `out`, if
/// that is given, instead of to the outcome.
inline Outcome run_program(const std::vector<std::string>& arguments, const std::string& out = "") {
    const TemporaryFolder folder;
    const std::string out_path = out.empty() ? folder / "out" : out;
    const std::string err_path = folder / "err";
    std::vector<std::string> texts{TENSORFS_PROGRAM};
    texts.insert(texts.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& text : texts) argv.push_back(text.data());
    argv.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_path.c_str(), O_WRONLY | O_CREAT, 0600);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_path.c_str(), O_WRONLY | O_CREAT, 0600);
    pid_t process = 0;
    const int error = ::posix_spawn(&process, TENSORFS_PROGRAM, &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot run " TENSORFS_PROGRAM);

    int status = 0;
    if (::waitpid(process, &status, 0) != process) throw std::runtime_error("cannot wait for " TENSORFS_PROGRAM);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code, out.empty() ? read_file(out_path) : std::string(), read_file(err_path)};
}

/// The lines of a text, without their ends.
inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

}  // namespace tensorfs::tests
