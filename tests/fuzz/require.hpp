#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/escape.hpp"

// What the fuzz targets have in common: a promise that does not hold ends the program, by which
// libFuzzer keeps the input.

namespace tensorfs::fuzz {

inline void require(bool holds, const char* promise) {
    if (holds) return;
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
}

/// An Error says something, a line a problem, and can be printed as it is.
inline void require_printable(const Error& error) {
    const std::string_view text = error.what();
    std::size_t lines = 1;
    for (const char c : text) {
        if (c == '\n') ++lines;
        require(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F), "no control character in a message");
    }
    require(is_utf8(text), "a message is UTF-8");
    require(lines == error.problems().size(), "a problem is one line");
    for (const Problem& problem : error.problems()) require(!problem.text.empty(), "a problem has a text");
}

}  // namespace tensorfs::fuzz
