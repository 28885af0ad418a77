// How fast the values of GGUF's quantised types are computed: one thread, blocks and values in the cache.
//
//   bench_dequantise [MILLISECONDS [PROCESSOR]]
//
// prints, for each type, GB/s of values and, in turns with them, of a memcpy of as many bytes, as JSON. Each of the
// two is measured for so long (50 if not told otherwise), by code for the best processor of baseline, avx2 and avx512
// that is here, or for the one that is named.

#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "core/tensors/dequantise.hpp"

using namespace tensorfs;

namespace {

/// What this thread has computed for: what else the machine does in between does not count.
std::chrono::nanoseconds computed_for() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

constexpr std::size_t elements = 64 * 1024;  // 256 KiB of values, which a second-level cache holds twice
constexpr std::size_t nbytes = elements * sizeof(float);

/// So that the compiler cannot leave out what made it.
void use(const float* values) { asm volatile("" : : "r"(values) : "memory"); }

/// Bytes made in so much time.
struct Rate {
    double bytes = 0;
    std::chrono::nanoseconds time{};

    template <class Work>
    void measure(const Work& work) {
        const std::chrono::nanoseconds begin = computed_for();
        for (int i = 0; i < 8; ++i) work();  // so many that the clock costs nothing
        time += computed_for() - begin;
        bytes += 8.0 * nbytes;
    }
    [[nodiscard]] double gigabytes_a_second() const {
        return bytes / std::chrono::duration<double>(time).count() / 1e9;
    }
};

std::optional<Processor> processor_named(std::string_view name) {
    constexpr std::array<std::string_view, processor_count> names{"baseline", "avx2", "avx512"};
    const auto* found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    const auto processor = static_cast<Processor>(found - names.begin());
    return runs_here(processor) ? std::optional(processor) : std::nullopt;
}

void measure(Processor processor, Dtype dtype, std::chrono::nanoseconds time, const char* end) {
    std::mt19937_64 random(1);
    std::vector<std::byte> blocks(elements / block_of(dtype).elements * block_of(dtype).nbytes);
    for (std::byte& byte : blocks) byte = static_cast<std::byte>(random());
    const std::vector<float> source(elements, 1.0F);
    std::vector<float> values(elements);

    Rate computed, copied;
    const auto compute = [&] {
        dequantise(processor, dtype, blocks.data(), elements, values.data());
        use(values.data());
    };
    const auto copy = [&] {
        std::memcpy(values.data(), source.data(), nbytes);
        use(values.data());
    };
    compute();  // what is used for the first time comes into the cache
    while (computed.time < time) {
        computed.measure(compute);
        while (copied.time < computed.time) copied.measure(copy);
    }
    const std::string_view name = to_string(dtype);
    std::printf("  \"%.*s\": {\"dequantise\": %.3f, \"memcpy\": %.3f}%s\n", static_cast<int>(name.size()), name.data(),
                computed.gigabytes_a_second(), copied.gigabytes_a_second(), end);
}

}  // namespace

int main(int argc, char** argv) {
    const int milliseconds = argc > 1 ? std::atoi(argv[1]) : 50;
    const std::optional<Processor> processor = argc > 2 ? processor_named(argv[2]) : best_processor();
    if (argc > 3 || milliseconds <= 0 || !processor) {
        std::fprintf(stderr, "usage: bench_dequantise [MILLISECONDS [baseline|avx2|avx512]], one that is here\n");
        return 2;
    }
    std::vector<Dtype> types;
    for (std::size_t i = 0; i < dtype_count; ++i) {
        if (is_quantised(static_cast<Dtype>(i))) types.push_back(static_cast<Dtype>(i));
    }
    std::printf("{\n");
    for (const Dtype dtype : types) {
        measure(*processor, dtype, std::chrono::milliseconds(milliseconds), dtype == types.back() ? "" : ",");
    }
    std::printf("}\n");
    return 0;
}
