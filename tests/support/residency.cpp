#include "tests/support/residency.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "core/base/descriptor.hpp"

namespace tensorfs::tests {
namespace {

constexpr std::size_t page = 4096;

Descriptor open_file(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) throw std::runtime_error("cannot open " + path);
    return file;
}

}  // namespace

std::uint64_t resident_bytes(const std::string& path) {
    const Descriptor file = open_file(path);
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) throw std::runtime_error("cannot look at " + path);
    const auto size = static_cast<std::size_t>(info.st_size);
    if (size == 0) return 0;
    void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) throw std::runtime_error("cannot map " + path);
    std::vector<unsigned char> pages((size + page - 1) / page);
    const int result = ::mincore(memory, size, pages.data());
    ::munmap(memory, size);
    if (result != 0) throw std::runtime_error("cannot ask for the pages of " + path);
    return static_cast<std::uint64_t>(
               std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return p & 1; })) *
           page;
}

void drop_from_cache(const std::string& path) {
    const Descriptor file = open_file(path);
    ::fsync(file.get());  // what is not on the disk yet cannot be dropped
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace tensorfs::tests
