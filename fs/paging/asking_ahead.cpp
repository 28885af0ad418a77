#include "fs/paging/asking_ahead.hpp"

#include <algorithm>
#include <utility>

namespace tensorfs {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t shortest_stretch = 512 << 10;
constexpr std::uint64_t longest_stretch = 8 << 20;
constexpr std::uint64_t trial = 2 << 20;
constexpr milliseconds long_enough{25};

/// Whoever fills a line of a gigabit a second has little to gain.
constexpr double quick = 8;

/// Where the way is long, four requests at once take a quarter of the time; what brings less is chance.
constexpr double gain = 0.5;

constexpr std::uint64_t longest_rest = std::uint64_t{16} << 30;

}  // namespace

double AskingAhead::cost() const noexcept {
    return static_cast<double>(took_.count()) / static_cast<double>(std::max<std::uint64_t>(nbytes_, 1));
}

void AskingAhead::go_to(Stage stage) noexcept {
    stage_ = stage;
    nbytes_ = 0;
    took_ = Duration(0);
}

void AskingAhead::rest() noexcept {
    go_to(Stage::rests);
    wins_ = 0;
    rest_ = std::min(rest_ * 4, longest_rest);
}

void AskingAhead::count(std::uint64_t nbytes, Duration took) noexcept {
    nbytes_ += nbytes;
    took_ += took;
    switch (stage_) {
        case Stage::plain:
            if (nbytes_ < shortest_stretch || (nbytes_ < longest_stretch && took_ < long_enough)) return;
            plain_cost_ = cost();
            is_under_way_ = false;
            if (plain_cost_ <= quick) wins_ = 0;
            return go_to(plain_cost_ > quick ? Stage::tries : Stage::plain);
        case Stage::tries:
            // The first READ waits for itself as well as for what is asked.
            if (!std::exchange(is_under_way_, true)) return go_to(Stage::tries);
            if (nbytes_ < shortest_stretch) return;
            if (cost() > plain_cost_ * gain) return rest();  // at once, for it may do harm
            if (nbytes_ < trial) return;
            // Once may be chance: something else kept the machine busy, or the server.
            return go_to(++wins_ < 2 ? Stage::plain : Stage::asks);
        case Stage::asks:
            if (nbytes_ < longest_stretch) return;
            return cost() > plain_cost_ * gain ? rest() : go_to(Stage::asks);
        case Stage::rests:
            if (nbytes_ >= rest_) go_to(Stage::plain);
            return;
    }
}

}  // namespace tensorfs
