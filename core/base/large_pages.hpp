#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace tensorfs {

inline constexpr std::size_t large_page = 2 << 20;

/// Asks for large pages where memory that is about to be filled holds whole ones: to touch it a small page at a time
/// takes longer than to fill it. No more memory is taken than without. Advice: where the kernel has no large pages,
/// small ones come. Thread-safe.
inline void ask_for_large_pages(const void* memory, std::size_t nbytes) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t begin = (at + large_page - 1) / large_page * large_page;
    const std::uintptr_t end = (at + nbytes) / large_page * large_page;
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

/// The same for a vector's reserved memory.
template <typename T>
void ask_for_large_pages(const std::vector<T>& reserved) noexcept {
    ask_for_large_pages(reserved.data(), reserved.capacity() * sizeof(T));
}

/// An allocator for what is filled once and read: memory of 2 MiB or more begins at a large page, and new elements of a
/// trivial type are not set to 0. Thread-safe.
template <typename T>
class LargePages {
public:
    using value_type = T;

    LargePages() = default;
    template <typename U>
    LargePages(const LargePages<U>& /*unused*/) noexcept {}

    [[nodiscard]] T* allocate(std::size_t count) {
        if (count > SIZE_MAX / sizeof(T) / 2) throw std::bad_array_new_length();
        const std::size_t nbytes = count * sizeof(T);
        if (nbytes < large_page) return static_cast<T*>(::operator new(nbytes));
        void* const memory = std::aligned_alloc(large_page, (nbytes + large_page - 1) / large_page * large_page);
        if (memory == nullptr) throw std::bad_alloc();
        ask_for_large_pages(memory, nbytes);
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        if (count * sizeof(T) < large_page) {
            ::operator delete(memory);
        } else {
            std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): what aligned_alloc gave
        }
    }

    template <typename U, typename... Arguments>
    void construct(U* at, Arguments&&... arguments) {
        if constexpr (sizeof...(Arguments) == 0 && std::is_trivially_default_constructible_v<U>) {
            ::new (static_cast<void*>(at)) U;
        } else {
            ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
        }
    }

    bool operator==(const LargePages&) const = default;
};

template <typename T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace tensorfs
