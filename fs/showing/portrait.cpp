#include "fs/showing/portrait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/numbers/element_reader.hpp"
#include "core/numbers/numbers.hpp"
#include "core/numbers/quantiles.hpp"
#include "fs/printing/slicing.hpp"
#include "fs/showing/measure.hpp"
#include "fs/terminal/failure.hpp"

namespace tensorfs {
namespace {

/// Calls visit(number of the first, numbers) for a range of a tensor's elements, in order.
template <typename Visit>
void visit_numbers(const Model& model, const Tensor& tensor, std::uint64_t first, std::uint64_t count,
                   const Visit& visit) {
    const Dtype dtype = tensor.dtype();
    const std::uint64_t block = block_of(dtype).elements;
    const std::uint64_t begin = first / block * block;  // a row may begin within a block
    const std::uint64_t end = first + count;
    const std::uint64_t whole_end = (end + block - 1) / block * block;
    std::vector<double> numbers(number_batch);
    ElementReader reader(tensor, model.shards());
    reader.read(begin, whole_end - begin, [&](std::uint64_t at, std::span<const std::byte> elements) {
        const std::uint64_t read = elements.size() / block_of(dtype).nbytes * block;
        for (std::uint64_t done = 0; done < read; done += number_batch) {
            const std::uint64_t taken = std::min<std::uint64_t>(number_batch, read - done);
            numbers_of(dtype, elements.data() + nbytes_in_blocks(dtype, done), taken, numbers.data());
            const std::uint64_t from = std::max(at + done, first);
            const std::uint64_t to = std::min(at + done + taken, end);
            if (from < to) visit(from, std::span<const double>(numbers).subspan(from - at - done, to - from));
        }
    });
}

struct Range {
    double low;
    double high;
};

/// What a histogram covers: all numbers, unless a thousandth at either end makes it more than three times as wide.
Range histogram_range(const Statistics& statistics, const Quantiles& quantiles) {
    const Range all{to_double(*statistics.minimum), to_double(*statistics.maximum)};
    const Range most{quantiles.at(0.001), quantiles.at(0.999)};
    const double width = most.high / 2 - most.low / 2;
    if (width <= 0 || all.high / 2 - all.low / 2 <= 3 * width) return all;
    return {std::max(all.low, most.low - width / 4), std::min(all.high, most.high + width / 4)};
}

/// Few bins for few numbers, so that the shape is seen: a divisor's worth of the room that there is.
std::size_t bins_for(std::uint64_t numbers, std::size_t most) {
    const double wanted = std::max(2 * std::sqrt(static_cast<double>(numbers)), 8.0);
    return wanted >= static_cast<double>(most) ? most : most / (most / static_cast<std::size_t>(wanted));
}

}  // namespace

Matrix matrix_of(Shape shape, std::string_view slice) {
    Matrix matrix;
    matrix.is_default = slice.empty();
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return matrix;
    matrix.columns = shape.empty() ? 1 : shape.back();
    matrix.rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
    const std::size_t leading = shape.size() < 2 ? 0 : shape.size() - 2;
    if (leading == 0) {
        if (!slice.empty()) {
            throw Failure(ExitCode::usage,
                          "--slice takes an index for each dimension but the last two, and here are no others");
        }
        return matrix;
    }
    std::string text(slice);
    if (text.empty()) {
        for (std::size_t i = 0; i < leading; ++i) text += i == 0 ? "0" : ",0";
    }
    const Slicing slicing(shape, text);
    const std::vector<std::uint64_t> wanted(shape.begin() + static_cast<std::ptrdiff_t>(leading), shape.end());
    if (slicing.shape() != wanted) {
        throw Failure(ExitCode::usage,
                      fmt::format("--slice takes an index for each dimension but the last two: here {}", leading));
    }
    matrix.first = slicing.element({0, 0});
    std::uint64_t number = matrix.first / matrix.elements();
    matrix.place = ",:,:]";
    for (std::size_t i = leading; i-- > 0; number /= shape[i])
        matrix.place.insert(0, fmt::format("{}{}", i == 0 ? "[" : ",", number % shape[i]));
    return matrix;
}

Portrait portray(const Model& model, std::uint32_t tensor, const Matrix& matrix, CellValue value,
                 const PortraitSize& size) {
    const Tensor& shown = model.tensors()[tensor];
    Portrait portrait;
    portrait.statistics = measure(model, {tensor}).front();
    if (matrix.elements() == 0) return portrait;
    const Statistics& statistics = portrait.statistics;
    if (statistics.finite() != 0 && to_double(*statistics.minimum) < to_double(*statistics.maximum)) {
        Quantiles quantiles;
        visit_numbers(model, shown, 0, shown.elements(),
                      [&](std::uint64_t, std::span<const double> numbers) { quantiles.add(numbers); });
        const Range range = histogram_range(statistics, quantiles);
        portrait.histogram.emplace(range.low, range.high, bins_for(statistics.finite(), size.bins));
        visit_numbers(model, shown, 0, shown.elements(),
                      [&](std::uint64_t, std::span<const double> numbers) { portrait.histogram->add(numbers); });
    }
    portrait.heat_map.emplace(matrix.rows, matrix.columns, size.height, size.width, value);
    visit_numbers(
        model, shown, matrix.first, matrix.elements(),
        [&](std::uint64_t at, std::span<const double> numbers) { portrait.heat_map->add(at - matrix.first, numbers); });
    return portrait;
}

}  // namespace tensorfs
