#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/tensors/gather.hpp"
#include "core/tensors/read_at.hpp"

namespace tensorfs {

/// Which tensor is gathered: two with the same key have the same bytes, as long as the pointers are good.
struct GatherKey {
    const void* file = nullptr;  // what it lies in
    const void* dims = nullptr;  // its shape and strides
    std::uint64_t offset = 0;    // of its first element
    bool operator==(const GatherKey&) const = default;
};

/// Reads strided tensors for readers that go on where they left off, in any pieces.
///
/// A row of a transposed matrix takes an element of each row of the file, so that a small range costs as many
/// reads as a large one. Where reading goes on, a whole window of the result is therefore gathered at once,
/// 8 MiB, and the requests that follow are answered from it; a window that was read to its end is given
/// back. There are at most four, of all tensors. Ranges that are read here and there, and tensors that are read
/// in long pieces anyway, are gathered as they are asked for.
///
/// Any number of threads may use it. It keeps what it read: who asks must see to it that the file is still
/// what it was.
class GatherWindows {
public:
    GatherWindows() = default;

    /// As Gather::read().
    [[nodiscard]] bool read(const Gather& tensor, const GatherKey& key, std::uint64_t begin, std::span<std::byte> out,
                            const ReadAt& reader) noexcept;

    /// Of the windows that are held, in bytes.
    [[nodiscard]] std::uint64_t nbytes() const noexcept;

private:
    struct Window;

    /// Where a tensor was last read.
    struct Stream {
        GatherKey tensor;
        std::uint64_t end = 0;
    };

    bool goes_on(const GatherKey& key, std::uint64_t begin, std::uint64_t end) noexcept;
    std::shared_ptr<Window> find_or_add(const GatherKey& key, std::uint64_t number, std::uint64_t nbytes,
                                        bool& is_new) noexcept;
    bool read_part(const Gather& tensor, const GatherKey& key, std::uint64_t window_size, std::uint64_t begin,
                   std::span<std::byte> out, const ReadAt& reader) noexcept;
    void forget(const std::shared_ptr<Window>& window) noexcept;

    mutable std::mutex mutex_;
    std::condition_variable filled_;
    std::vector<std::shared_ptr<Window>> windows_;  // the one used last at the end
    std::vector<Stream> streams_;                   // likewise
};

}  // namespace tensorfs
