#include "tests/support/allocations.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> live{0};
std::atomic<std::size_t> peak{0};

}  // namespace

namespace tensorfs::tests {

std::size_t allocated_now() { return live; }
std::size_t allocated_at_most() { return peak; }
void forget_peak() { peak = live.load(); }

}  // namespace tensorfs::tests

void* operator new(std::size_t size) {
    void* const memory = std::malloc(size);
    if (memory == nullptr) throw std::bad_alloc();
    const std::size_t now = live += malloc_usable_size(memory);
    for (std::size_t seen = peak; seen < now && !peak.compare_exchange_weak(seen, now);) continue;
    return memory;
}
void operator delete(void* memory) noexcept {
    if (memory != nullptr) live -= malloc_usable_size(memory);
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
