#pragma once

#include <chrono>
#include <cstdint>

namespace tensorfs {

/// Learns whether it pays to ask a distant filesystem for more than is being read. Where each request waits for a long
/// way, it does, many times over. Where a connection brings a file from its beginning to its end, it can only hurt:
/// requests overtake each other, and for each that does, the connection is opened anew.
///
/// So it is tried: a stretch is read plainly, and if that was slow, another with small windows asked for ahead. If that
/// takes half the time or less, twice, windows stay, and grow; if not, it is long before they are tried again. Not
/// thread-safe.
class AskingAhead {
public:
    using Duration = std::chrono::nanoseconds;

    /// A READ that went on in its stream took so long to read, from the filesystem alone.
    void count(std::uint64_t nbytes, Duration took) noexcept;
    /// How much to ask for beyond what is being read, now; at most. A trial takes little, lest it do harm;
    /// at 10 ms a request, 32 MiB are 3 GB/s.
    [[nodiscard]] std::uint64_t largest_window() const noexcept {
        return stage_ == Stage::tries ? 512 << 10 : stage_ == Stage::asks ? 32 << 20 : 0;
    }

private:
    enum class Stage { plain, tries, asks, rests };

    void go_to(Stage stage) noexcept;
    void rest() noexcept;
    [[nodiscard]] double cost() const noexcept;  // of the stage so far, in ns a byte

    Stage stage_ = Stage::plain;
    std::uint64_t nbytes_ = 0;  // in this stage
    Duration took_{0};
    double plain_cost_ = 0;
    bool is_under_way_ = false;      // the trial's first READ has ended
    unsigned wins_ = 0;              // trials that brought something, one after the other
    std::uint64_t rest_ = 64 << 20;  // how much is read before it is tried again
};

}  // namespace tensorfs
