#pragma once

#include <algorithm>
#include <cstddef>

namespace tensorfs::tests {

/// Bytes of memory that are allocated, and the most there were since forget_peak(). A program that asks for them has
/// all its allocations by `new` counted.
std::size_t allocated_now();
std::size_t allocated_at_most();
void forget_peak();

/// The most memory that `work` had at once, in bytes.
template <typename Work>
std::size_t memory_of(Work&& work) {
    forget_peak();
    const std::size_t before = allocated_now();
    work();
    return allocated_at_most() - std::min(allocated_at_most(), before);
}

}  // namespace tensorfs::tests
