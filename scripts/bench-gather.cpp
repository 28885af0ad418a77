// How fast a strided tensor is read row-major, in requests as the kernel sends them; from a file in the page
// cache, by pread(2). Prints a line a case: what, the request's size, GB/s of the result: gathered as it is asked
// for, and with windows.
//
//   bench_gather FILE      FILE is made, with 257 MiB, and stays

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/tensors/gather.hpp"
#include "core/tensors/gather_windows.hpp"
#include "core/tensors/shard.hpp"

namespace {

using namespace tensorfs;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t file_size = 257 << 20;
constexpr int repetitions = 3;

struct Case {
    const char* what;
    Strided tensor;
};

bool make_file(const char* path) {
    const Descriptor file(::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const std::vector<char> bytes(1 << 20, 'x');
    for (std::uint64_t done = 0; file && done < file_size; done += bytes.size()) {
        if (::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return false;
    }
    return static_cast<bool>(file);
}

/// The best of some runs, in GB/s; 0 where the file cannot be read.
double measure(const Shard& shard, const Strided& tensor, std::uint64_t request, bool with_windows) {
    const Gather gather(tensor);
    const auto reader = [&](std::uint64_t offset, std::span<std::byte> into) { return shard.copy(offset, into); };
    const std::uint64_t nbytes = std::min<std::uint64_t>(gather.nbytes(), std::uint64_t{64} << 20);
    std::vector<std::byte> out(request);
    double best = 0;
    for (int i = 0; i < repetitions; ++i) {
        GatherWindows windows;
        const auto start = Clock::now();
        for (std::uint64_t at = 0; at < nbytes; at += request) {
            const std::uint64_t take = std::min(request, nbytes - at);
            const std::span<std::byte> into(out.data(), take);
            if (!(with_windows ? windows.read(gather, {&gather, nullptr, 0}, at, into, reader)
                               : gather.read(at, into, reader)))
                return 0;
        }
        const std::chrono::duration<double> seconds = Clock::now() - start;
        best = std::max(best, static_cast<double>(nbytes) / seconds.count() / 1e9);
    }
    return best;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2 || !make_file(argv[1])) {
        std::fprintf(stderr, "usage: bench_gather FILE\n");
        return 2;
    }
    const std::vector<Case> cases{
        {"F32 8192x8192 transposed", {{8192, 8192}, {1, 8192}, 4, 3}},
        {"BF16 8192x8192 transposed", {{8192, 8192}, {1, 8192}, 2, 3}},
        {"F32 1024x1024 transposed", {{1024, 1024}, {1, 1024}, 4, 3}},
        {"F32 4096x16000 transposed", {{4096, 16000}, {1, 4096}, 4, 3}},
        {"F32 512x512x3x3 channels last", {{512, 512, 3, 3}, {4608, 1, 1536, 512}, 4, 3}},
        {"F32 3x3x512x512 column-major", {{3, 3, 512, 512}, {1, 3, 9, 4608}, 4, 3}},
        {"F32 8192x4096 left half", {{8192, 4096}, {8192, 1}, 4, 3}},
        {"F32 8192x4096 every second", {{8192, 4096}, {8192, 2}, 4, 3}},
        {"F32 8192x8192 expanded", {{8192, 8192}, {1, 0}, 4, 3}},
    };
    const Shard shard(argv[1]);
    for (const Case& one : cases) {
        if (!extent(one.tensor, shard.size())) return 1;
        for (const std::uint64_t request : {std::uint64_t{1} << 20, std::uint64_t{128} << 10}) {
            std::printf("%-32s %5llu KiB  %.2f  %.2f GB/s\n", one.what, static_cast<unsigned long long>(request >> 10),
                        measure(shard, one.tensor, request, false), measure(shard, one.tensor, request, true));
        }
    }
    return 0;
}
