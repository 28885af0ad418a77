#include "fs/statistics/busy.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <new>

namespace tensorfs {

void Busy::Unmap::operator()(Count* pages) const noexcept { ::munmap(pages, nbytes); }

std::unique_ptr<Busy::Count[], Busy::Unmap> Busy::map(std::size_t tensors) {
    const std::size_t nbytes = std::max<std::size_t>(tensors, 1) * sizeof(Count);
    void* const pages = ::mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return {static_cast<Count*>(pages), Unmap{nbytes}};
}

Busy::Busy(std::size_t tensors) : size_(tensors), counts_(map(tensors)) {}

void Busy::count(std::size_t tensor, std::uint64_t nbytes) noexcept {
    std::atomic_ref(counts_[tensor].requests).fetch_add(1, std::memory_order_relaxed);
    std::atomic_ref(counts_[tensor].nbytes).fetch_add(nbytes, std::memory_order_relaxed);
}

std::vector<Busy::Reads> Busy::busiest(std::size_t most) const {
    const auto less_busy = [](const Reads& a, const Reads& b) {
        return a.nbytes != b.nbytes ? a.nbytes > b.nbytes : a.tensor < b.tensor;
    };
    std::vector<Reads> heap;  // the least busy of them on top
    for (std::size_t i = 0; i < size_ && most != 0; ++i) {
        const Reads reads{i, std::atomic_ref(counts_[i].requests).load(std::memory_order_relaxed),
                          std::atomic_ref(counts_[i].nbytes).load(std::memory_order_relaxed)};
        if (reads.requests == 0) continue;
        if (heap.size() == most) {
            if (!less_busy(reads, heap.front())) continue;
            std::pop_heap(heap.begin(), heap.end(), less_busy);
            heap.pop_back();
        }
        heap.push_back(reads);
        std::push_heap(heap.begin(), heap.end(), less_busy);
    }
    std::sort_heap(heap.begin(), heap.end(), less_busy);
    return heap;
}

}  // namespace tensorfs
