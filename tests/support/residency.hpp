#pragma once

#include <cstdint>
#include <string>

namespace tensorfs::tests {

/// How many bytes of a file, in whole pages, are in the page cache. Throws std::runtime_error.
std::uint64_t resident_bytes(const std::string& path);

/// Takes a file out of the page cache, where its filesystem can do without. Throws
/// std::runtime_error.
void drop_from_cache(const std::string& path);

}  // namespace tensorfs::tests
