#pragma once

#include <cstdint>
#include <cstdlib>
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
    struct Free {
        void operator()(void* memory) const noexcept { std::free(memory); }
    };

    std::size_t size_;
    std::unique_ptr<Count[], Free> counts_;  // from calloc: what is never counted takes no memory
};

}  // namespace tensorfs
