#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tensorfs {

/// How much is read of each tensor of a model. Any thread may count and ask.
class Busy {
public:
    /// Throws std::bad_alloc.
    explicit Busy(std::size_t tensors);

    /// A READ of a tensor was answered with so many bytes. REQUIRES: tensor < tensors.
    void count(std::size_t tensor, std::uint64_t nbytes) noexcept;

    struct Reads {
        std::size_t tensor;      // position in the model's tensors
        std::uint64_t requests;  // READs
        std::uint64_t nbytes;    // what they were answered with
    };
    /// The `most` tensors of which most bytes were read, those with most first. Throws std::bad_alloc.
    [[nodiscard]] std::vector<Reads> busiest(std::size_t most) const;

private:
    struct Count {
        std::uint64_t requests;
        std::uint64_t nbytes;
    };
    /// Gives pages back to the system, from where they came: what is never counted takes no memory.
    struct Unmap {
        std::size_t nbytes;
        void operator()(Count* pages) const noexcept;
    };
    static std::unique_ptr<Count[], Unmap> map(std::size_t tensors);

    std::size_t size_;
    std::unique_ptr<Count[], Unmap> counts_;
};

}  // namespace tensorfs
