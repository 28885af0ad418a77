#include "core/tensors/gather_windows.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace tensorfs {
namespace {

constexpr std::uint64_t largest_window = 8 << 20;
constexpr std::size_t most_windows = 4;
constexpr std::size_t most_streams = 16;

/// The kernel sends several READs of a file at once, and they are answered in any order: reading goes on where
/// it left off if it does so nearly.
constexpr std::uint64_t nearly = 2 << 20;

/// Memory of the kernel's, which has it back as soon as it is given up: an allocator would keep it, for each thread
/// that ever filled a window.
class Pages {
public:
    Pages() = default;
    ~Pages() {
        if (memory_ != MAP_FAILED) ::munmap(memory_, nbytes_);
    }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    /// False where there is no memory. REQUIRES: it has none yet, and nbytes is not 0.
    [[nodiscard]] bool allocate(std::size_t nbytes) noexcept {
        nbytes_ = nbytes;
        memory_ = ::mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return memory_ != MAP_FAILED;
    }
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {static_cast<std::byte*>(memory_), nbytes_}; }

private:
    void* memory_ = MAP_FAILED;
    std::size_t nbytes_ = 0;
};

}  // namespace

struct GatherWindows::Window {
    enum class State { filling, ready, failed };

    GatherKey tensor;
    std::uint64_t number;  // of the tensor's windows
    std::uint64_t nbytes;
    State state = State::filling;
    std::uint64_t served = 0;  // bytes that were asked for
    Pages pages;

    Window(const GatherKey& key, std::uint64_t which, std::uint64_t size) : tensor(key), number(which), nbytes(size) {}
};

bool GatherWindows::read(const Gather& tensor, const GatherKey& key, std::uint64_t begin, std::span<std::byte> out,
                         const ReadAt& reader) noexcept {
    if (!tensor.is_scattered() || !goes_on(key, begin, begin + out.size())) return tensor.read(begin, out, reader);
    const std::uint64_t window_size = tensor.window(largest_window);
    while (!out.empty()) {
        const std::uint64_t take = std::min<std::uint64_t>(out.size(), window_size - begin % window_size);
        if (!read_part(tensor, key, window_size, begin, out.first(take), reader)) return false;
        begin += take;
        out = out.subspan(take);
    }
    return true;
}

std::uint64_t GatherWindows::nbytes() const noexcept {
    const std::lock_guard lock(mutex_);
    std::uint64_t sum = 0;
    for (const auto& window : windows_) sum += window->nbytes;
    return sum;
}

bool GatherWindows::goes_on(const GatherKey& key, std::uint64_t begin, std::uint64_t end) noexcept {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(streams_.rbegin(), streams_.rend(), [&](const Stream& stream) {
        return stream.tensor == key && begin <= stream.end + nearly && end + nearly >= stream.end;
    });
    if (known == streams_.rend()) {
        if (streams_.size() == most_streams) streams_.erase(streams_.begin());
        streams_.push_back({key, end});
        return false;
    }
    known->end = std::max(known->end, end);
    return true;
}

/// The window, which the caller must fill if it is new; null where all there may be are being filled, or
/// there is no memory.
std::shared_ptr<GatherWindows::Window> GatherWindows::find_or_add(const GatherKey& key, std::uint64_t number,
                                                                  std::uint64_t nbytes, bool& is_new) noexcept {
    const auto found = std::find_if(windows_.begin(), windows_.end(), [&](const auto& window) {
        return window->tensor == key && window->number == number;
    });
    is_new = found == windows_.end();
    if (!is_new) {
        std::rotate(found, found + 1, windows_.end());
        return windows_.back();
    }
    if (windows_.size() == most_windows) {
        const auto oldest = std::find_if(windows_.begin(), windows_.end(),
                                         [](const auto& window) { return window->state != Window::State::filling; });
        if (oldest == windows_.end()) return nullptr;
        windows_.erase(oldest);
    }
    try {
        windows_.push_back(std::make_shared<Window>(key, number, nbytes));
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    return windows_.back();
}

bool GatherWindows::read_part(const Gather& tensor, const GatherKey& key, std::uint64_t window_size,
                              std::uint64_t begin, std::span<std::byte> out, const ReadAt& reader) noexcept {
    const std::uint64_t number = begin / window_size;
    const std::uint64_t first = number * window_size;
    const std::uint64_t nbytes = std::min(window_size, tensor.nbytes() - first);
    bool is_new = false;
    std::unique_lock lock(mutex_);
    const std::shared_ptr<Window> window = find_or_add(key, number, nbytes, is_new);
    if (window == nullptr) {
        lock.unlock();
        return tensor.read(begin, out, reader);
    }
    if (is_new) {
        lock.unlock();
        const bool is_filled = window->pages.allocate(nbytes) && tensor.read(first, window->pages.bytes(), reader);
        lock.lock();
        window->state = is_filled ? Window::State::ready : Window::State::failed;
        if (!is_filled) forget(window);
        filled_.notify_all();
    } else {
        filled_.wait(lock, [&] { return window->state != Window::State::filling; });
    }
    if (window->state == Window::State::failed) {
        // What is asked for may be there even so.
        lock.unlock();
        return tensor.read(begin, out, reader);
    }
    window->served += out.size();
    if (window->served >= nbytes) forget(window);
    lock.unlock();
    std::memcpy(out.data(), window->pages.bytes().data() + (begin - first), out.size());
    return true;
}

void GatherWindows::forget(const std::shared_ptr<Window>& window) noexcept {
    windows_.erase(std::remove(windows_.begin(), windows_.end(), window), windows_.end());
}

}  // namespace tensorfs
