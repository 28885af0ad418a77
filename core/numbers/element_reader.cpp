#include "core/numbers/element_reader.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/numbers/numbers.hpp"

namespace tensorfs {
namespace {

Error naming(const Tensor& tensor, const Error& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) problem.tensor = tensor.full_name();
    return Error(std::move(problems));
}

}  // namespace

ElementReader::ElementReader(const Tensor& tensor, const std::vector<Shard>& shards)
    : tensor_(tensor), shards_(shards) {
    content_.add(tensor);
}

void ElementReader::read(std::uint64_t first, std::uint64_t count, const Visit& visit) {
    constexpr std::uint64_t piece = 256 << 10;  // fits the processor's second cache
    constexpr std::uint64_t strided_piece = 4 << 20;
    const Block block = block_of(tensor_.dtype());
    // A multiple of number_batch, so that batches lie the same however the elements are cut into parts.
    const std::uint64_t most =
        (tensor_.is_strided() ? strided_piece : piece) / block.nbytes * block.elements / number_batch * number_batch;
    for (const std::uint64_t end = first + count; first < end;) {
        const std::uint64_t taken = std::min(most, end - first);
        buffer_.resize(nbytes_in_blocks(tensor_.dtype(), taken));
        try {
            read_range(content_, nbytes_in_blocks(tensor_.dtype(), first), buffer_, shards_);
        } catch (const Error& error) {
            throw naming(tensor_, error);
        }
        visit(first, buffer_);
        first += taken;
    }
}

}  // namespace tensorfs
