#include "core/tensors/scattered_read.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/parallel.hpp"

namespace tensorfs {
namespace {

constexpr std::uint64_t largest_gap = 4096;     // between ranges that are read in one piece
constexpr std::uint64_t largest_piece = 65536;  // unless one range is larger
constexpr std::size_t pieces_at_a_time = 64;    // that a thread takes
constexpr std::size_t most_threads = 16;        // what waits for a disk needs no processor

/// Ranges from `first` on, up to the next piece's first.
struct Piece {
    std::size_t first;
    std::uint64_t nbytes;
};

std::vector<Piece> join(std::span<const SmallRange> ranges) {
    std::vector<Piece> pieces;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const std::uint64_t range_end = ranges[i].offset + ranges[i].nbytes;
        if (i == 0 || ranges[i].offset > end + largest_gap || range_end - begin > largest_piece) {
            begin = ranges[i].offset;
            end = range_end;
            pieces.push_back({i, end - begin});
        } else {
            end = std::max(end, range_end);
            pieces.back().nbytes = end - begin;
        }
    }
    return pieces;
}

}  // namespace

void read_scattered(const Shard& shard, std::span<const SmallRange> ranges,
                    const std::function<void(std::size_t, std::string_view)>& visit) {
    const std::vector<Piece> pieces = join(ranges);
    const std::size_t tasks = (pieces.size() + pieces_at_a_time - 1) / pieces_at_a_time;
    in_parallel(
        tasks,
        [&](std::size_t task) {
            std::string buffer;
            const std::size_t end = std::min(pieces.size(), (task + 1) * pieces_at_a_time);
            for (std::size_t p = task * pieces_at_a_time; p < end; ++p) {
                const std::size_t first = pieces[p].first;
                const std::size_t last = p + 1 < pieces.size() ? pieces[p + 1].first : ranges.size();
                if (buffer.size() < pieces[p].nbytes) buffer.resize(pieces[p].nbytes);
                shard.read(ranges[first].offset, {buffer.data(), pieces[p].nbytes});
                for (std::size_t i = first; i < last; ++i) {
                    visit(i,
                          std::string_view(buffer).substr(ranges[i].offset - ranges[first].offset, ranges[i].nbytes));
                }
            }
        },
        most_threads);
}

}  // namespace tensorfs
