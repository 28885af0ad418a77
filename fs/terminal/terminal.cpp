#include "fs/terminal/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace tensorfs {
namespace {

ExitCode code_of(Kind kind) {
    switch (kind) {
        case Kind::NoSuchSource:
        case Kind::NotAModel:
        case Kind::AmbiguousSource: return ExitCode::no_source;
        case Kind::SystemError: return ExitCode::unreadable;
        default: return ExitCode::bad_source;
    }
}

}  // namespace

void complain(std::string_view text) {
    // Where even this cannot be written, the exit code must do.
    const std::string line = fmt::format("tensorfs: {}\n", text);
    std::fwrite(line.data(), 1, line.size(), stderr);
}

void print(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
    throw Failure(ExitCode::internal, "cannot write: " + system_message(errno));
}

ExitCode report(const Error& error) {
    for (const Problem& problem : error.problems()) complain(to_string(problem));
    // Damage that is certain weighs more than what could not be looked at.
    const auto& all = error.problems();
    const auto worst =
        std::find_if(all.begin(), all.end(), [](const Problem& p) { return code_of(p.kind) == ExitCode::bad_source; });
    return code_of((worst == all.end() ? all.front() : *worst).kind);
}

}  // namespace tensorfs
