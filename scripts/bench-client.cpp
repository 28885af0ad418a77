// What scripts/bench measures, compiled, so that the reader's own cost is small and the same for all
// filesystems. Each line reads ranges of files in one way and prints how long it took, in nanoseconds.
//
//   bench_client read BLOCK RANGE...      read(2) from beginning to end; a thread for each range
//   bench_client direct BLOCK RANGE...    the same past the page cache (O_DIRECT)
//   bench_client map PROCESSES RANGE      maps the range and adds up its words, in so many processes
//   bench_client load THREADS LIST        as a loader that maps files: LIST names ranges, a line each; each thread
//   takes
//                                         the next one and adds up its words
//   bench_client random THREADS COUNT RANGE      so many reads of 4 KiB at random places, in all
//   bench_client random-map THREADS COUNT RANGE  the same, touching a page of a mapping
//   bench_client drop RANGE...            takes the range out of the page cache; prints 0
//
// A RANGE is FILE:OFFSET:NBYTES.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t page = 4096;

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "bench_client: %s: %s\n", what.c_str(), std::generic_category().message(errno).c_str());
    std::exit(1);
}

struct Range {
    std::string file;
    std::uint64_t offset;
    std::uint64_t nbytes;

    explicit Range(const std::string& text) {
        const std::size_t second = text.rfind(':');
        const std::size_t first = text.rfind(':', second - 1);
        file = text.substr(0, first);
        offset = std::stoull(text.substr(first + 1));
        nbytes = std::stoull(text.substr(second + 1));
    }

    /// The whole file.
    [[nodiscard]] Range whole() const {
        struct stat found {};
        if (::stat(file.c_str(), &found) != 0) fail(file);
        Range all = *this;
        all.offset = 0;
        all.nbytes = static_cast<std::uint64_t>(found.st_size);
        return all;
    }
    [[nodiscard]] int open(int flags = 0) const {
        const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | flags);
        if (fd < 0) fail(file);
        return fd;
    }
};

/// Runs `work(i)` in so many threads at once, and answers how long all of them took.
std::chrono::nanoseconds in_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
    std::barrier start(static_cast<std::ptrdiff_t>(count) + 1);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
            start.arrive_and_wait();
            work(i);
        });
    }
    const Clock::time_point begin = Clock::now();  // before any of them can begin
    start.arrive_and_wait();
    for (std::thread& thread : threads) thread.join();
    return Clock::now() - begin;
}

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

void read_range(const Range& range, std::uint64_t block, int flags) {
    const int fd = range.open(flags);
    const std::unique_ptr<void, Free> buffer(std::aligned_alloc(page, block));
    if (!buffer) fail("memory");
    const std::uint64_t end = range.offset + range.nbytes;
    for (std::uint64_t at = range.offset; at < end;) {
        const ssize_t got = ::pread(fd, buffer.get(), std::min(block, end - at), static_cast<off_t>(at));
        if (got < 0) fail(range.file);
        if (got == 0) break;
        at += static_cast<std::uint64_t>(got);
    }
    ::close(fd);
}

/// A range as memory; what stands before it on its first page is mapped along.
struct Mapping {
    explicit Mapping(const Range& range) {
        const int fd = range.open();
        const std::uint64_t begin = range.offset / page * page;
        size = range.offset + range.nbytes - begin;
        memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(begin));
        if (memory == MAP_FAILED) fail(range.file);
        ::close(fd);
    }
    ~Mapping() { ::munmap(memory, size); }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    void* memory;
    std::uint64_t size;
};

std::uint64_t add_up(const Range& range) {
    const Mapping mapping(range);
    const auto* const words = static_cast<const std::uint64_t*>(mapping.memory);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < mapping.size / sizeof *words; ++i) sum += words[i];
    return sum;
}

/// The result is used, so that the compiler cannot leave out the reading.
void use(std::uint64_t value) { asm volatile("" : : "r"(value)); }

std::chrono::nanoseconds map_in_processes(std::size_t count, const Range& range) {
    const Clock::time_point begin = Clock::now();
    for (std::size_t i = 0; i < count; ++i) {
        const pid_t child = ::fork();
        if (child < 0) fail("fork");
        if (child == 0) {
            use(add_up(range));
            std::_Exit(0);
        }
    }
    int status = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (::wait(&status) < 0 || status != 0) fail("a process");
    }
    return Clock::now() - begin;
}

/// Maps whole files, each once, whatever ranges of it are read.
std::chrono::nanoseconds load(std::size_t threads, const std::string& list) {
    std::vector<Range> ranges;
    std::ifstream in(list);
    for (std::string line; std::getline(in, line);) ranges.emplace_back(line);
    std::map<std::string, std::unique_ptr<Mapping>> files;
    const Clock::time_point begin = Clock::now();
    for (const Range& range : ranges) {
        std::unique_ptr<Mapping>& file = files[range.file];
        if (!file) file = std::make_unique<Mapping>(range.whole());
    }
    std::atomic<std::size_t> next{0};
    in_threads(threads, [&](std::size_t) {
        std::uint64_t sum = 0;
        for (std::size_t i = next++; i < ranges.size(); i = next++) {
            const Range& range = ranges[i];
            const auto* const bytes = static_cast<const std::byte*>(files.at(range.file)->memory) + range.offset;
            for (std::size_t at = 0; at + sizeof sum <= range.nbytes; at += sizeof sum) {
                std::uint64_t word = 0;
                std::memcpy(&word, bytes + at, sizeof word);
                sum += word;
            }
        }
        use(sum);
    });
    return Clock::now() - begin;
}

std::chrono::nanoseconds read_at_random(std::size_t threads, std::size_t count, const Range& range, bool mapped) {
    const int fd = range.open();
    const Mapping mapping(range);
    ::madvise(mapping.memory, mapping.size, MADV_RANDOM);
    const auto took = in_threads(threads, [&](std::size_t number) {
        std::mt19937_64 random(number);
        alignas(page) std::byte buffer[page];
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < count / threads; ++i) {
            const std::uint64_t at = random() % (range.nbytes / page - 1) * page;
            if (mapped) {
                sum += static_cast<const std::uint8_t*>(mapping.memory)[at];
            } else if (::pread(fd, buffer, page, static_cast<off_t>(range.offset + at)) != page) {
                fail(range.file);
            }
        }
        use(sum);
    });
    ::close(fd);
    return took;
}

std::chrono::nanoseconds run(const std::vector<std::string>& words) {
    const std::string& what = words.at(0);
    const std::uint64_t first = what == "drop" ? 0 : std::stoull(words.at(1));
    if (what == "load") return load(first, words.at(2));
    std::vector<Range> ranges;
    const std::size_t options = what == "drop" ? 1 : what.starts_with("random") ? 3 : 2;
    for (std::size_t i = options; i < words.size(); ++i) ranges.emplace_back(words[i]);

    if (what == "read" || what == "direct") {
        const int flags = what == "direct" ? O_DIRECT : 0;
        return in_threads(ranges.size(), [&](std::size_t i) { read_range(ranges[i], first, flags); });
    }
    if (what == "map") return map_in_processes(first, ranges.at(0));
    if (what == "random" || what == "random-map") {
        return read_at_random(first, std::stoull(words.at(2)), ranges.at(0), what == "random-map");
    }
    if (what != "drop") throw std::invalid_argument(what);
    for (const Range& range : ranges) {
        const int fd = range.open();
        if (::posix_fadvise(fd, static_cast<off_t>(range.offset), static_cast<off_t>(range.nbytes),
                            POSIX_FADV_DONTNEED) != 0) {
            fail(range.file);
        }
        ::close(fd);
    }
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    try {
        std::printf("%lld\n", static_cast<long long>(run({argv + 1, argv + argc}).count()));
        return 0;
    } catch (const std::exception&) {
        std::fprintf(stderr, "bench_client: see the top of scripts/bench-client.cpp for what it takes\n");
        return 2;
    }
}
