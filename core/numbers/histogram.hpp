#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tensorfs {

/// How many numbers lie in each of some bins of equal width. For one thread.
class Histogram {
public:
    /// Bins from `low` up to and with `high`. REQUIRES: finite, low < high, bins >= 1.
    Histogram(double low, double high, std::size_t bins);

    /// Those that are not finite are left out.
    void add(std::span<const double> numbers);

    [[nodiscard]] double low() const { return low_; }
    [[nodiscard]] double high() const { return high_; }
    [[nodiscard]] const std::vector<std::uint64_t>& counts() const { return counts_; }
    /// Numbers beyond the bins.
    [[nodiscard]] std::uint64_t below() const { return below_; }
    [[nodiscard]] std::uint64_t above() const { return above_; }

private:
    double low_;
    double high_;
    std::vector<std::uint64_t> counts_;
    std::uint64_t below_ = 0;
    std::uint64_t above_ = 0;
};

}  // namespace tensorfs
