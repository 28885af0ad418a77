#include "core/numbers/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace tensorfs {

Histogram::Histogram(double low, double high, std::size_t bins) : low_(low), high_(high), counts_(bins) {}

void Histogram::add(std::span<const double> numbers) {
    // Halves, since the whole width may be beyond a double's range.
    const double half_width = high_ / 2 - low_ / 2;
    const auto bins = static_cast<double>(counts_.size());
    for (const double number : numbers) {
        if (!std::isfinite(number)) continue;
        if (number < low_) {
            ++below_;
        } else if (number > high_) {
            ++above_;
        } else {
            const double place = (number / 2 - low_ / 2) / half_width * bins;
            ++counts_[std::min(static_cast<std::size_t>(place), counts_.size() - 1)];
        }
    }
}

}  // namespace tensorfs
