#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tensorfs {

/// Counts how much is read of each tensor of a model. Thread-safe.
class Busy {
public:
    /// Throws std::bad_alloc.
    explicit Busy(std::size_t tensors);

    /// A READ of a tensor was answered with so many bytes. REQUIRES: tensor < tensors.
    void count(std::size_t tensor, std::uint64_t nbytes) noexcept;

    struct Reads {
        std::size_t tensor;      // index in Model::tensors()
        std::uint64_t requests;  // READs
        std::uint64_t nbytes;    // bytes that they were answered with
    };
    /// The up to `most` tensors of which most bytes were read, in descending order. Throws std::bad_alloc.
    [[nodiscard]] std::vector<Reads> busiest(std::size_t most) const;

private:
    struct Count {
        std::uint64_t requests;
        std::uint64_t nbytes;
    };
    /// The counts are pages of their own from the system: those never touched take no memory.
    struct Unmap {
        std::size_t nbytes;
        void operator()(Count* pages) const noexcept;
    };
    static std::unique_ptr<Count[], Unmap> map(std::size_t tensors);

    std::size_t size_;
    std::unique_ptr<Count[], Unmap> counts_;
};

}  // namespace tensorfs
