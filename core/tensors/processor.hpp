#pragma once

// Loops over elements, compiled for several processors. A task says once what is done:
//
//     struct Double {
//         [[gnu::always_inline]] static void run(const std::byte* in, std::size_t count, float* out) { ... }
//     };
//
// `run<Double>` runs it as it is best for the processor that is there; `versions<Double>` are the functions that the
// compiler makes of it, each with the vector units of one processor. All give the same bits, provided that the file is
// compiled with -ffp-contract=off: else the newer ones round a product and a sum once (fused multiply-add) that the
// others round twice.

#include <array>
#include <cstddef>
#include <cstdint>

namespace tensorfs {

/// What a version is compiled for. Of those that run here, a later one is the faster.
enum class Processor : std::uint8_t {
    baseline,  // what the compiler is told to build for
    avx2,      // x86-64 with AVX2
    avx512,    // x86-64 with AVX-512 F, BW, DQ and VL
};

inline constexpr std::size_t processor_count = 3;

/// Whether code for `processor` is there and can run on this machine. Any thread may ask.
inline bool runs_here(Processor processor) {
    switch (processor) {
        case Processor::baseline: return true;
#if defined(__x86_64__)
        case Processor::avx2: return __builtin_cpu_supports("avx2") != 0;
        case Processor::avx512:
            return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                   __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#endif
        default: return false;
    }
}

/// The last that runs here.
inline Processor best_processor() {
    static const Processor best = runs_here(Processor::avx512) ? Processor::avx512
                                  : runs_here(Processor::avx2) ? Processor::avx2
                                                               : Processor::baseline;
    return best;
}

/// Makes `count` of something (elements or blocks, as its task says) at `out` of what is at `in`, elsewhere.
template <typename Out>
using KernelTo = void (*)(const std::byte* in, std::size_t count, Out* out);
using Kernel = KernelTo<float>;

template <class Task, typename Out>
void on_baseline(const std::byte* __restrict in, std::size_t count, Out* __restrict out) {
    Task::run(in, count, out);
}

#if defined(__x86_64__)
template <class Task, typename Out>
[[gnu::target("avx2")]] void on_avx2(const std::byte* __restrict in, std::size_t count, Out* __restrict out) {
    Task::run(in, count, out);
}

template <class Task, typename Out>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void on_avx512(const std::byte* __restrict in, std::size_t count,
                                                                     Out* __restrict out) {
    Task::run(in, count, out);
}
#endif

/// A task's versions, by Processor.
template <typename Out>
using VersionsTo = std::array<KernelTo<Out>, processor_count>;
using Versions = VersionsTo<float>;

template <class Task, typename Out = float>
inline constexpr VersionsTo<Out> versions {
    on_baseline<Task, Out>,
#if defined(__x86_64__)
        on_avx2<Task, Out>, on_avx512<Task, Out>,
#endif
};

/// Runs the version for the best processor that is here.
template <class Task, typename Out>
void run(const std::byte* in, std::size_t count, Out* out) {
    versions<Task, Out>[static_cast<std::size_t>(best_processor())](in, count, out);
}

}  // namespace tensorfs
