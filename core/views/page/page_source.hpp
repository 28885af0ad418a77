#pragma once

#include <string_view>

namespace tensorfs {

/// page.html with its style and script: what stands before the data, between the two parts of them, and behind. Made
/// when tensorfs is built (scripts/cmake/page.cmake).
struct PageSource {
    std::string_view begin;
    std::string_view middle;
    std::string_view end;
};
extern const PageSource page_source;

}  // namespace tensorfs
